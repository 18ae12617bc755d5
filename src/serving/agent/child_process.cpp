// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/child_process.hpp"

#include <fcntl.h>
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
#include "serving/agent/spawned_program.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 20;  // of what it says

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

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const Limits& limits,
                           ChildStarter* starter)
    : starter_(starter) {
  Ends output, error;
  process_ = starter ? starter->start(command, output.write, error.write)
                     : spawn(command, {.output = output.write, .error = error.write});
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
    (void)take_end(0);
  }
  for (const int descriptor : {end_, output_.descriptor, error_.descriptor}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

std::optional<int> ChildProcess::take_end(int options) const {
  if (starter_) {
    pollfd end{end_, POLLIN, 0};
    if (options == WNOHANG && ::poll(&end, 1, 0) != 1) return std::nullopt;
    return starter_->end_of_child();
  }
  int status = 0;
  pid_t ended = -1;
  do ended = ::waitpid(process_, &status, options);
  while (ended < 0 && errno == EINTR);
  return ended == process_ ? std::optional(status) : std::nullopt;
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
  const std::optional<int> status = take_end(WNOHANG);
  if (!status) return false;
  ended_ = true;
  if (WIFEXITED(*status)) {
    exit_status_ = WEXITSTATUS(*status);
  } else {
    reason_ = "it was ended by " + signal_words(WTERMSIG(*status));
  }
  (void)listen();
  kill();
  return true;
}

}  // namespace d5::detail
