// SPDX-License-Identifier: Apache-2.0
#include "serving/process/owned_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/machine/signal_words.hpp"
#include "d5/core/error.hpp"

namespace d5::detail {

OwnedProcess::OwnedProcess(pid_t process, std::function<int()> wait)
    : process_(process),
      wait_(std::move(wait)),
      end_(int(::syscall(SYS_pidfd_open, process, 0))) {  // glibc 2.36's is C++ by mistake
  if (end_ >= 0) return;
  // Nobody would hear of its end.
  const int reason = errno;
  kill();
  (void)take_end(0);
  throw IoError(fmt::format("a process of its own cannot be watched: {}", std::strerror(reason)));
}

OwnedProcess::~OwnedProcess() {
  if (!ended_) {
    kill();
    (void)take_end(0);
  }
  if (end_ >= 0) ::close(end_);
}

void OwnedProcess::limit_memory(std::size_t bytes) const {
  const rlimit space{bytes, bytes};
  (void)::prlimit(process_, RLIMIT_AS, &space, nullptr);
}

std::optional<int> OwnedProcess::take_end(int options) const {
  if (wait_) {
    pollfd end{end_, POLLIN, 0};
    if (options == WNOHANG && ::poll(&end, 1, 0) != 1) return std::nullopt;
    return wait_();
  }
  int status = 0;
  pid_t ended = -1;
  do ended = ::waitpid(process_, &status, options);
  while (ended < 0 && errno == EINTR);
  return ended == process_ ? std::optional(status) : std::nullopt;
}

void OwnedProcess::kill() const {
  ::kill(-process_, SIGKILL);  // what it began ends with it, also after it ended
}

bool OwnedProcess::has_ended() {
  if (ended_) return true;
  const std::optional<int> status = take_end(WNOHANG);
  if (!status) return false;
  ended_ = true;
  if (WIFEXITED(*status)) {
    exit_status_ = WEXITSTATUS(*status);
  } else {
    reason_ = "it was ended by " + signal_words(WTERMSIG(*status));
  }
  kill();
  return true;
}

}  // namespace d5::detail
