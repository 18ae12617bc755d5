// SPDX-License-Identifier: Apache-2.0
#include "core/process/owned_process.hpp"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "core/process/program_run.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Matchers::Contains;
using detail::OwnedProcess;
using detail::Program;
using detail::run_program;

namespace {

Program shell(const std::string& line) { return {.words = {"sh", "-c", line}}; }

std::ptrdiff_t open_descriptors() {
  using Listing = std::filesystem::directory_iterator;
  return std::distance(Listing("/proc/self/fd"), Listing());
}

/// Whether this process has no child left, not even one that nobody has waited for.
bool has_no_child() { return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

/// The number that a child wrote into a file, once it is there.
pid_t number_in(const std::string& file) {
  for (;;) {
    std::ifstream stream(file);
    if (pid_t number = 0; stream >> number && stream.get() == '\n') return number;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Whether it runs no more: gone, or a zombie of init's.
bool ends_soon(pid_t process) {
  for (int i = 0; i < 5000; ++i) {
    std::ifstream status("/proc/" + std::to_string(process) + "/stat");
    std::string number, name, state;
    if (!(status >> number >> name >> state) || state == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// While it lives, this process hears a signal each millisecond, and goes on.
class ManySignals {
 public:
  ManySignals() {
    struct sigaction heard{};
    heard.sa_handler = [](int) {};  // no SA_RESTART: what waits returns with EINTR
    ::sigaction(SIGALRM, &heard, &before_);
    const itimerval often{{0, 1000}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~ManySignals() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  ManySignals(const ManySignals&) = delete;
  ManySignals& operator=(const ManySignals&) = delete;

 private:
  struct sigaction before_{};
};

}  // namespace

TEST_CASE("a program's output, errors and status are collected") {
  const auto run = run_program(shell("echo said; echo wrong >&2; exit 3"));
  CHECK(run.output == "said\n");
  CHECK(run.error == "wrong\n");
  CHECK(run.end.status == 3);
  CHECK(run.end.words() == "it ended with status 3");
  CHECK_FALSE(run.is_late);
  const auto killed = run_program(shell("kill -SEGV $$"));
  CHECK(killed.end.status == -1);
  CHECK(killed.end.signal == SIGSEGV);
  CHECK(killed.end.shell_status() == 128 + SIGSEGV);
  CHECK_THAT(killed.end.words(), Contains("SIGSEGV"));
}

TEST_CASE("errors stand among the output where that is asked") {
  Program program = shell("echo one; echo two >&2; echo three");
  program.error = Program::kAsOutput;
  const auto run = run_program(program);
  CHECK(run.output == "one\ntwo\nthree\n");
  CHECK(run.error.empty());
}

TEST_CASE("output larger than a pipe arrives whole, on both streams") {
  const auto run = run_program(
      shell("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2; head -c 1 /dev/zero"));
  CHECK(run.end.status == 0);
  CHECK(run.output.size() == 3000001);
  CHECK(run.error.size() == 2000000);
}

TEST_CASE("a program that hangs is ended at its deadline, with its own children") {
  const testing::TemporaryFolder folder;
  const std::string number = folder / "number";
  const auto run =
      run_program(shell("sleep 1000 & echo $! >" + number + "; echo begun; wait"), 0.5);
  CHECK(run.is_late);
  CHECK(run.end.signal == SIGTERM);
  CHECK(run.output == "begun\n");
  CHECK(ends_soon(number_in(number)));
}

TEST_CASE("a process that ignores the request to end is killed after its grace period") {
  OwnedProcess deaf(
      shell("trap '' TERM; echo deaf >/proc/self/fd/1; while :; do sleep 0.01; done"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const double begin = now_seconds();
  deaf.end(0.2);
  CHECK(now_seconds() - begin >= 0.2);
  CHECK(deaf.how().signal == SIGKILL);
}

TEST_CASE("children of a program end with it, also where it ends by itself") {
  const testing::TemporaryFolder folder;
  const std::string number = folder / "number";
  OwnedProcess parent(shell("sleep 1000 & echo $! >" + number));
  CHECK(parent.wait(now_seconds() + 100));
  CHECK(parent.how().status == 0);
  CHECK(ends_soon(number_in(number)));
}

TEST_CASE("signals of this process disturb neither a wait nor what is read") {
  const ManySignals signals;
  const auto run = run_program(shell("sleep 0.1; head -c 1000000 /dev/zero; exit 7"));
  CHECK(run.output.size() == 1000000);
  CHECK(run.end.status == 7);
  OwnedProcess brief(shell("sleep 0.1"));
  CHECK_FALSE(brief.wait(now_seconds() + 0.01));
  CHECK(brief.wait());
}

TEST_CASE("the error about a missing program has its name") {
  CHECK_THROWS_AS(run_program({.words = {"no-such-program"}}), detail::NoProgram);
  CHECK_THROWS_WITH(run_program({.words = {"no-such-program"}}), Contains("'no-such-program'"));
  CHECK_THROWS_WITH(run_program({.words = {"/no/such/program"}}), Contains("'/no/such/program'"));
  const testing::TemporaryFolder folder;
  const std::string file = folder / "no-program";
  std::ofstream(file) << "\x7f no format that the system knows";
  std::filesystem::permissions(file, std::filesystem::perms::all);
  CHECK_THROWS_AS(run_program({.words = {file}}), IoError);
  CHECK(has_no_child());
}

TEST_CASE("no descriptor and no zombie is left, however a program ends") {
  const std::ptrdiff_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    (void)run_program(shell("echo said; echo wrong >&2"));
    (void)run_program(shell("sleep 1000"), 0.01);
    CHECK_THROWS(run_program({.words = {"no-such-program"}}));
    const OwnedProcess dropped(shell("sleep 1000"));
  }
  CHECK(open_descriptors() == before);
  CHECK(has_no_child());
}

TEST_CASE("a program inherits its streams alone, no ignored and no blocked signal") {
  const auto leaked = detail::make_pipe();
  ::fcntl(leaked.here.get(), F_SETFD, 0);  // what others open may be inherited
  const auto before = ::signal(SIGINT, SIG_IGN);
  const auto run = run_program(shell(
      "cat; ls /proc/self/fd | grep -v '^[0123]$'; grep -E '^Sig(Blk|Ign)' /proc/self/status"));
  ::signal(SIGINT, before);
  // 3 is the folder that `ls` lists.
  CHECK(run.output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_CASE("a program's variables are this process's, changed where it is asked") {
  ::setenv("D5_TEST_KEPT", "kept", 1);
  ::setenv("D5_TEST_REMOVED", "here", 1);
  Program program = shell("echo $D5_TEST_KEPT-$D5_TEST_REMOVED-$D5_TEST_SET");
  program.variables = {"D5_TEST_REMOVED", "D5_TEST_SET=a=b"};
  CHECK(run_program(program).output == "kept--a=b\n");
}

TEST_CASE("streams are what they are called, also where their descriptors overlap") {
  auto pipe = detail::make_pipe();
  Program program = shell(": output; echo error >&2");
  program.output = STDERR_FILENO;
  program.error = pipe.there.get();
  OwnedProcess process(program);
  process.wait();
  std::string text;
  detail::take_available(pipe.here, text);
  CHECK(text == "error\n");
}

TEST_CASE("a program ends with the thread that began it, where that is asked") {
  std::unique_ptr<OwnedProcess> process;
  std::thread([&] {
    Program program = shell("sleep 1000");
    program.ends_with_parent = SIGTERM;
    process = std::make_unique<OwnedProcess>(program);
  }).join();
  CHECK(process->wait(now_seconds() + 100));
  CHECK(process->how().signal == SIGTERM);
}

TEST_CASE("a copy of this process is a group of its own, and killed with what it began") {
  const testing::TemporaryFolder folder;
  const std::string number = folder / "number";
  const pid_t child = detail::fork_in_group();
  if (child == 0) {
    if (::fork() == 0) {
      std::ofstream(number) << ::getpid() << '\n';
      for (;;) ::pause();
    }
    for (;;) ::pause();
  }
  pid_t grandchild = 0;
  {
    const OwnedProcess owned(child);
    grandchild = number_in(number);
    CHECK(::getpgid(grandchild) == child);
  }
  CHECK(ends_soon(grandchild));
  CHECK(has_no_child());
}
