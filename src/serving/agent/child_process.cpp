// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 20;  // of what it says

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// The two ends of a pipe, closed where nobody took them.
struct Ends {
  int read = -1, write = -1;
  Ends() {
    int both[2];
    if (::pipe2(both, O_CLOEXEC) != 0) throw IoError("no pipe for a process of its own");
    read = both[0];
    write = both[1];
    ::fcntl(read, F_SETFL, O_NONBLOCK);
  }
  ~Ends() {
    if (read >= 0) ::close(read);
    ::close(write);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
};

/// How the child is started: its group, its signals, what it reads and writes.
struct SpawnOrders {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
  SpawnOrders(int output, int error) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, error, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
  }
  ~SpawnOrders() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnOrders(const SpawnOrders&) = delete;
  SpawnOrders& operator=(const SpawnOrders&) = delete;
};

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const Limits& limits) {
  Ends output, error;
  std::vector<std::string> words = command, variables;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("D5_TOKEN=")) variables.emplace_back(text);  // the agent's alone
  }
  variables.push_back(fmt::format("D5_ENDS_WITH={}", ::getpid()));
  {
    const SpawnOrders orders(output.write, error.write);
    const int failed =
        ::posix_spawn(&process_, command.at(0).c_str(), &orders.files, &orders.attributes,
                      pointers(words).data(), pointers(variables).data());
    if (failed != 0) {
      throw IoError(
          fmt::format("cannot start '{}': {}", printable(command[0]), std::strerror(failed)));
    }
  }
  if (limits.most_bytes > 0) {
    const rlimit space{limits.most_bytes, limits.most_bytes};
    (void)::prlimit(process_, RLIMIT_AS, &space, nullptr);
  }
  end_ = int(::syscall(SYS_pidfd_open, process_, 0));  // glibc 2.36's is C++ by mistake
  output_.descriptor = std::exchange(output.read, -1);
  error_.descriptor = std::exchange(error.read, -1);
}

ChildProcess::~ChildProcess() {
  if (!ended_) {
    kill();
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  for (const int descriptor : {end_, output_.descriptor, error_.descriptor}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

void ChildProcess::kill() {
  ::kill(-process_, SIGKILL);  // what it began ends with it, also after it ended
}

bool ChildProcess::Pipe::take() {
  char bytes[1 << 14];
  bool any = false;
  while (descriptor >= 0) {
    const ssize_t count = ::read(descriptor, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    if (count == 0) {
      ::close(std::exchange(descriptor, -1));
      break;
    }
    any = true;
    part.append(bytes, std::size_t(count));
    const std::size_t room = kMostKept - std::min(kMostKept, all.size());
    all.append(bytes, std::min(room, std::size_t(count)));
  }
  if (part.size() > kMostKept) part.erase(0, part.size() - kMostKept);
  for (std::size_t end = 0; (end = part.find('\n')) != std::string::npos; part.erase(0, end + 1)) {
    const std::size_t last = part.find_last_not_of("\r\n ", end);
    if (last != std::string::npos && last < end) last_line = part.substr(0, last + 1);
  }
  return any;
}

bool ChildProcess::listen() {
  const bool said = output_.take();
  return error_.take() || said;
}

bool ChildProcess::has_ended() {
  if (ended_) return true;
  int status = 0;
  if (::waitpid(process_, &status, WNOHANG) != process_) return false;
  ended_ = true;
  if (WIFEXITED(status)) {
    exit_status_ = WEXITSTATUS(status);
  } else {
    const int signal = WTERMSIG(status);
    const char* name = sigabbrev_np(signal);
    reason_ = fmt::format("it was ended by SIG{} ({})", name ? name : std::to_string(signal),
                          strsignal(signal));
  }
  (void)listen();
  kill();
  return true;
}

}  // namespace d5::detail
