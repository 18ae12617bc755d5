// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/rank_launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "core/files/scratch_folder.hpp"
#include "d5/core/error.hpp"

namespace d5 {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void expect_launcher() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/mpirun").c_str(), X_OK) == 0) return;
  }
  throw NotFound(
      "no mpirun is in PATH, which starts several ranks; install Open MPI (Debian: openmpi-bin)");
}

/// What mpirun counts as places for ranks: cores, not their threads.
int cores() {
  std::set<std::string> siblings;
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  for (int cpu = 0; cpu < threads; ++cpu) {
    siblings.insert(
        text_of(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu)));
  }
  return siblings.count("") ? threads : static_cast<int>(siblings.size());
}

/// Replaces this process; returns where that fails.
void execute(const std::vector<std::string>& words) {
  // Open MPI refuses to start ranks as root unless both say yes; who runs d5 as root has said so.
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  }
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
}

int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/// The signals that `launch_and_end` waits for, except those that nobody wants this process to
/// hear.
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

/// In the process that becomes the launcher: out of reach of the terminal's signals, and ended with
/// `parent`.
[[noreturn]] void become_launcher(const std::vector<std::string>& words, pid_t parent,
                                  const sigset_t& signals) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  if (isatty(STDIN_FILENO) != 0) {  // which would stop it
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  }
  execute(words);
  fmt::print(stderr, "d5: error: {} could not be started: {}\n", words.front(),
             std::strerror(errno));
  _exit(127);
}

[[noreturn]] void launch_and_end(const std::vector<std::string>& words) {
  const sigset_t awaited = awaited_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &awaited, &before);
  const pid_t parent = getpid();
  const pid_t launcher = fork();
  if (launcher < 0) throw IoError(fmt::format("no process: {}", std::strerror(errno)));
  if (launcher == 0) become_launcher(words, parent, before);
  int interrupted_by = 0, status = 0;
  while (waitpid(launcher, &status, WNOHANG) == 0) {
    const int signal = sigwaitinfo(&awaited, nullptr);
    if (signal < 0 || signal == SIGCHLD) continue;
    if (signal == SIGTSTP) {
      kill(launcher, SIGTSTP);
      raise(SIGSTOP);
      kill(launcher, SIGCONT);
      continue;
    }
    kill(launcher, interrupted_by == 0 ? kLaunchersCtrlC : SIGTERM);
    if (interrupted_by == 0) interrupted_by = signal;
  }
  std::exit(interrupted_by != 0 ? 128 + interrupted_by : status_of(status));
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
  execute(words);
  throw IoError(fmt::format("{} could not be started: {}", words.front(), std::strerror(errno)));
}

LaunchedRun run_ranks(int ranks, const std::vector<std::string>& command,
                      const Interrupt& interrupt) {
  const auto words = launch_words(ranks, command);
  const detail::ScratchFolder folder("ranks");
  const std::string log = folder / "output.txt";
  const pid_t process = fork();
  if (process < 0) throw IoError(fmt::format("no process: {}", std::strerror(errno)));
  if (process == 0) {
    const int file = open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    const int nothing = open("/dev/null", O_RDONLY);
    if (file < 0 || nothing < 0) _exit(127);
    dup2(nothing, STDIN_FILENO);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execute(words);
    _exit(127);
  }
  int status = 0;
  bool was_told = false;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (interrupt.due() && !was_told) {
      kill(process, SIGTERM);  // mpirun ends its ranks
      was_told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (was_told) throw Interrupted(fmt::format("{}: {}", fmt::join(words, " "), interrupt.reason()));
  LaunchedRun run{.output = text_of(log)};
  run.status = status_of(status);
  if (run.status == 127 && run.output.empty()) {
    throw IoError(fmt::format("{} could not be started", words.front()));
  }
  return run;
}

}  // namespace d5
