// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>

#include "core/files/owned_descriptor.hpp"
#include "core/process/program.hpp"

namespace d5::detail {

/// How a process ended.
struct ProcessEnd {
  int status = -1;  ///< with which it exited; -1: a signal ended it
  int signal = 0;   ///< that ended it; 0: none did

  /// As a shell has it: 128 more than the signal.
  [[nodiscard]] int shell_status() const { return signal > 0 ? 128 + signal : status; }
  /// "it ended with status 3", "it was ended by SIGSEGV (Segmentation fault)"
  [[nodiscard]] std::string words() const;
};

/// A process that this one has begun, in a group of its own: it and all that it began end with this
/// object, and leave no zombie. A program is started by `start`, a copy of this process by
/// `fork_in_group`.
class OwnedProcess {
 public:
  /// Throws: as `start`.
  explicit OwnedProcess(const Program& program) : OwnedProcess(start(program)) {}
  /// `wait` waits for its end, as waitpid, where another process is its parent. Throws: IoError,
  /// and it ends, where its end cannot be awaited.
  explicit OwnedProcess(pid_t process, std::function<int()> wait = {});
  ~OwnedProcess();
  OwnedProcess(const OwnedProcess&) = delete;
  OwnedProcess& operator=(const OwnedProcess&) = delete;

  /// Limits its address space, what it has allocated included: more is refused to it.
  void limit_memory(std::size_t bytes) const;
  /// Becomes readable, for poll, at its end.
  [[nodiscard]] int descriptor() const { return end_.get(); }

  /// Whether it has ended. What it began is killed then.
  [[nodiscard]] bool has_ended() { return wait(0); }
  /// The same, after a wait for that until `deadline` (s, of `now_seconds`).
  bool wait(double deadline = std::numeric_limits<double>::infinity());
  /// How it ended, once it has.
  [[nodiscard]] const ProcessEnd& how() const { return how_; }

  /// Sends the process alone a signal. Thread safety: any.
  void signal(int number) const;
  /// Kills it and all that it began. Thread safety: any.
  void kill() const;
  /// Asks it and all that it began to end (SIGTERM); kills what is left after `grace` seconds.
  void end(double grace);

 private:
  void take_end();

  const pid_t process_;
  std::function<int()> wait_;
  OwnedDescriptor end_;
  std::atomic<bool> ended_ = false;
  ProcessEnd how_;
};

/// A copy of this process, in a group of its own, that is killed when the thread that made it ends:
/// 0 in the copy, -1 and errno where there is none. For work that needs this process's memory; what
/// needs none is a `Program`.
[[nodiscard]] pid_t fork_in_group();

}  // namespace d5::detail
