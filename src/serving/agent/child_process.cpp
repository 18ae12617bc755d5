// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "d5/core/error.hpp"
#include "serving/process/spawned_program.hpp"

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
                           const std::shared_ptr<ChildStarter>& starter) {
  Ends output, error;
  const pid_t process = starter ? starter->start(command, output.write, error.write)
                                : spawn(command, {.output = output.write, .error = error.write});
  process_.emplace(
      process, starter ? std::function<int()>([=] { return starter->end_of(process); }) : nullptr);
  if (limits.most_bytes > 0) process_->limit_memory(limits.most_bytes);
  output_.descriptor = std::exchange(output.read, -1);
  error_.descriptor = std::exchange(error.read, -1);
}

ChildProcess::~ChildProcess() {
  process_.reset();
  for (const int descriptor : {output_.descriptor, error_.descriptor}) {
    if (descriptor >= 0) ::close(descriptor);
  }
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
  if (!process_->has_ended()) return false;
  (void)listen();
  return true;
}

}  // namespace d5::detail
