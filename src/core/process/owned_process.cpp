// SPDX-License-Identifier: Apache-2.0
#include "core/process/owned_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/machine/signal_words.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {

std::string ProcessEnd::words() const {
  if (signal > 0) return "it was ended by " + signal_words(signal);
  return fmt::format("it ended with status {}", status);
}

OwnedProcess::OwnedProcess(pid_t process, std::function<int()> wait)
    : process_(process),
      wait_(std::move(wait)),
      end_(int(::syscall(SYS_pidfd_open, process,
                         0))) {  // glibc 2.36 declares its wrapper without extern "C"
  if (end_.get() >= 0) return;
  const int reason = errno;
  kill();
  take_end();
  throw IoError(fmt::format("a child process cannot be watched: {}", std::strerror(reason)));
}

OwnedProcess::~OwnedProcess() {
  if (ended_) return;
  kill();
  take_end();
}

void OwnedProcess::limit_memory(std::size_t bytes) const {
  const rlimit space{bytes, bytes};
  (void)::prlimit(process_, RLIMIT_AS, &space, nullptr);
}

void OwnedProcess::take_end() {
  int status = 0;
  pid_t reaped = process_;
  if (wait_) {
    status = wait_();
  } else {
    do reaped = ::waitpid(process_, &status, 0);
    while (reaped < 0 && errno == EINTR);
  }
  ended_ = true;
  if (reaped == process_ && WIFEXITED(status)) how_.status = WEXITSTATUS(status);
  if (reaped == process_ && WIFSIGNALED(status)) how_.signal = WTERMSIG(status);
}

bool OwnedProcess::wait(double deadline) {
  constexpr double kMost = 3600, kMilliseconds = 1000;
  while (!ended_) {
    const double left = std::clamp(deadline - now_seconds(), 0.0, kMost);
    pollfd end{end_.get(), POLLIN, 0};
    const int count = ::poll(&end, 1, left > 0 ? int(left * kMilliseconds) + 1 : 0);
    if (count == 0 && left <= 0) return false;
    if (count <= 0) continue;
    kill();  // while its number is not reused
    take_end();
  }
  return true;
}

void OwnedProcess::signal(int number) const {
  if (!ended_) ::kill(process_, number);
}

void OwnedProcess::kill() const {
  if (!ended_) ::kill(-process_, SIGKILL);
}

void OwnedProcess::end(double grace) {
  if (ended_) return;
  ::kill(-process_, SIGTERM);
  if (wait(now_seconds() + grace)) return;
  kill();
  wait();
}

pid_t fork_in_group() {
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // the parent has ended
  }
  if (child >= 0)
    (void)::setpgid(child, child);  // by both parent and child, so that the group exists for either
  return child;
}

}  // namespace d5::detail
