// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/launching/rank_launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "core/files/scratch_folder.hpp"
#include "core/process/launcher.hpp"
#include "core/process/owned_process.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void expect_launcher() {
  if (detail::find_program("mpirun")) return;
  throw NotFound(
      "PATH has no mpirun, which is needed to start several ranks; install Open MPI (Debian: "
      "openmpi-bin)");
}

/// The slots that mpirun counts: cores, not hardware threads.
int cores() {
  std::set<std::string> siblings;
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  for (int cpu = 0; cpu < threads; ++cpu) {
    siblings.insert(
        text_of(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu)));
  }
  return siblings.count("") ? threads : static_cast<int>(siblings.size());
}

/// Variables that allow Open MPI to start ranks as root; it needs both.
std::vector<std::string> variables() {
  std::vector<std::string> set;
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    if (geteuid() == 0 && !std::getenv(name)) set.push_back(fmt::format("{}=1", name));
  }
  return set;
}

/// The signals that `launch_and_end` waits for, except those ignored by this process.
sigset_t awaited_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) {
    struct sigaction action{};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  return signals;
}

/// Blocks signals during its lifetime.
struct BlockedSignals {
  sigset_t before = {};
  explicit BlockedSignals(const sigset_t& signals) { sigprocmask(SIG_BLOCK, &signals, &before); }
  ~BlockedSignals() { sigprocmask(SIG_SETMASK, &before, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
};

/// Runs the launcher out of reach of the terminal's signals; it ends with this process.
[[noreturn]] void launch_and_end(const std::vector<std::string>& words) {
  const sigset_t awaited = awaited_signals();
  const BlockedSignals blocked(awaited);
  detail::OwnedProcess launcher(
      detail::Program{.words = words,
                      .variables = variables(),
                      // Reading from a terminal would stop the launcher.
                      .input = isatty(STDIN_FILENO) != 0 ? detail::Program::kNothing : STDIN_FILENO,
                      .output = STDOUT_FILENO,
                      .error = STDERR_FILENO,
                      .ends_with_parent = SIGTERM,
                      .blocked = &blocked.before});
  int interrupted_by = 0;
  while (!launcher.has_ended()) {
    const int signal = sigwaitinfo(&awaited, nullptr);
    if (signal < 0 || signal == SIGCHLD) continue;
    if (signal == SIGTSTP) {
      launcher.signal(SIGTSTP);
      raise(SIGSTOP);
      launcher.signal(SIGCONT);
      continue;
    }
    launcher.signal(interrupted_by == 0 ? kLaunchersCtrlC : SIGTERM);
    if (interrupted_by == 0) interrupted_by = signal;
  }
  std::exit(interrupted_by != 0 ? 128 + interrupted_by : launcher.how().shell_status());
}

}  // namespace

std::vector<std::string> own_command() {
  std::istringstream stream(text_of("/proc/self/cmdline"));
  std::vector<std::string> words;
  for (std::string word; std::getline(stream, word, '\0');) words.push_back(word);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  if (words.empty()) return {program};
  words.front() = program;
  return words;
}

std::string own_launcher() {
  const int ranks = detail::launched_ranks();
  return ranks > 1 ? detail::launcher_line(ranks) : "";
}

std::vector<std::string> launch_words(int ranks, const std::vector<std::string>& command) {
  if (ranks < 1)
    throw ValueError(fmt::format("{} ranks cannot be started; expected 1 or more", ranks));
  if (ranks == 1) return command;
  expect_launcher();
  std::vector<std::string> words{"mpirun", "-np", std::to_string(ranks)};
  if (ranks > cores()) words.emplace_back("--oversubscribe");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

void become_ranks(int ranks, const std::vector<std::string>& command) {
  const auto words = launch_words(ranks, command);
  if (ranks > 1) launch_and_end(words);
  // A single rank needs no launcher: replace this process.
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  throw IoError(fmt::format("{} could not be started: {}", words.front(), std::strerror(errno)));
}

LaunchedRun run_ranks(int ranks, const std::vector<std::string>& command,
                      const Interrupt& interrupt) {
  const auto words = launch_words(ranks, command);
  const detail::ScratchFolder folder("ranks");
  const std::string log = folder / "output.txt";
  // A file, not a pipe: orphans of a rank may hold a pipe open.
  const detail::OwnedDescriptor file(open(log.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  if (file.get() < 0) throw IoError(fmt::format("no file '{}': {}", log, std::strerror(errno)));
  detail::OwnedProcess process(detail::Program{.words = words,
                                               .variables = variables(),
                                               .output = file.get(),
                                               .error = file.get(),
                                               .ends_with_parent = SIGTERM});
  bool was_told = false;
  constexpr double kLookSeconds = 0.02;
  while (!process.wait(now_seconds() + kLookSeconds)) {
    if (!interrupt.due() || was_told) continue;
    process.signal(SIGTERM);  // mpirun ends its ranks
    was_told = true;
  }
  if (was_told) throw Interrupted(fmt::format("{}: {}", fmt::join(words, " "), interrupt.reason()));
  LaunchedRun run{.output = text_of(log)};
  run.status = process.how().shell_status();
  return run;
}

}  // namespace d5
