// SPDX-License-Identifier: Apache-2.0
#include "core/process/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace d5::detail {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

std::string_view name_of_variable(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::vector<std::string> environment(const std::vector<std::string>& changes) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable) {
    const auto is_same = [&](std::string_view change) {
      return name_of_variable(change) == name_of_variable(*variable);
    };
    if (std::ranges::none_of(changes, is_same)) variables.emplace_back(*variable);
  }
  for (const std::string& change : changes) {
    if (change.find('=') != std::string::npos) variables.push_back(change);
  }
  return variables;
}

/// All data that the child reads. The child allocates nothing: it shares its parent's memory.
struct StartOrders {
  const Program& program;
  const char* file;
  char* const* words;
  char* const* variables;
  pid_t parent = ::getpid();
  sigset_t unblocked = {};
  volatile int error = 0;  ///< errno of the child if exec failed
};

/// Duplicates a descriptor above the three standard streams, so that none is overwritten before it
/// is copied.
int above_streams(int descriptor, int otherwise) {
  return ::fcntl(descriptor < 0 ? otherwise : descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

void set_streams(const Program& program) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int input = above_streams(program.input, nothing);
  const int output = above_streams(program.output, nothing);
  const int error =
      program.error == Program::kAsOutput ? output : above_streams(program.error, nothing);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
}

/// In the child.
[[noreturn]] void become(StartOrders& orders) {
  const Program& program = orders.program;
  if (program.group == Program::Group::session) {
    ::setsid();
  } else {
    ::setpgid(0, 0);
  }
  if (program.ends_with_parent != 0) {
    ::prctl(PR_SET_PDEATHSIG, program.ends_with_parent);
    if (::getppid() != orders.parent) ::_exit(1);  // the parent has ended
  }
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &usual, nullptr);
  set_streams(program);
  ::sigprocmask(SIG_SETMASK, program.blocked ? program.blocked : &orders.unblocked, nullptr);
  ::execve(orders.file, orders.words, orders.variables);
  orders.error = errno;
  ::_exit(127);
}

/// Returns when the child has executed the program, or failed to. ThreadSanitizer forks instead:
/// there a file that cannot be executed ends with status 127, and the parent may come first.
[[gnu::noinline]] pid_t start_child(StartOrders& orders) {
  const pid_t child = ::vfork();
  if (child == 0) become(orders);
  const bool has_group = orders.program.group != Program::Group::session;
  if (child > 0 && has_group) (void)::setpgid(child, child);  // so that `kill` finds it
  return child;
}

}  // namespace

std::optional<std::string> find_program(std::string_view name) {
  const auto is_program = [](const std::string& file) {
    std::error_code none;
    return std::filesystem::is_regular_file(file, none) && ::access(file.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string_view::npos) {
    return is_program(std::string(name)) ? std::optional(std::string(name)) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "/usr/bin:/bin";
  while (!name.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string_view folder = end > 0 ? folders.substr(0, end) : ".";
    if (std::string file = fmt::format("{}/{}", folder, name); is_program(file)) return file;
    if (end == folders.size()) break;
    folders.remove_prefix(end + 1);
  }
  return std::nullopt;
}

pid_t start(const Program& program) {
  const std::string& name = program.words.at(0);
  const std::optional<std::string> file = find_program(name);
  if (!file) {
    throw NoProgram(fmt::format("there is no program '{}'{}", printable(name),
                                name.find('/') == std::string::npos ? " in $PATH" : ""));
  }
  std::vector<std::string> words = program.words, variables = environment(program.variables);
  const std::vector<char*> word_list = pointers(words), variable_list = pointers(variables);
  StartOrders orders{program, file->c_str(), word_list.data(), variable_list.data()};
  ::sigemptyset(&orders.unblocked);
  // No signal handler of this process may run in the child, which shares its memory.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = start_child(orders);
  const int failed = child < 0 ? errno : orders.error;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed == 0) return child;
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  throw IoError(fmt::format("cannot start '{}': {}", printable(name), std::strerror(failed)));
}

}  // namespace d5::detail
