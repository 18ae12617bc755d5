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
  int status = -1;  ///< exit status; -1: ended by a signal
  int signal = 0;   ///< signal that ended it; 0: none

  /// The status in a shell: 128 + signal.
  [[nodiscard]] int shell_status() const { return signal > 0 ? 128 + signal : status; }
  /// "it ended with status 3", "it was ended by SIGSEGV (Segmentation fault)"
  [[nodiscard]] std::string words() const;
};

/// A child process in a process group of its own. It and its descendants end with this object,
/// without zombies. `start` starts a program, `fork_in_group` a copy of this process.
class OwnedProcess {
 public:
  /// Throws: as `start`.
  explicit OwnedProcess(const Program& program) : OwnedProcess(start(program)) {}
  /// `wait` waits for its end, as waitpid, if another process is its parent. Throws: IoError if its
  /// end cannot be awaited; the process is then killed.
  explicit OwnedProcess(pid_t process, std::function<int()> wait = {});
  ~OwnedProcess();
  OwnedProcess(const OwnedProcess&) = delete;
  OwnedProcess& operator=(const OwnedProcess&) = delete;

  /// Limits its address space, including memory that it has allocated already.
  void limit_memory(std::size_t bytes) const;
  /// A descriptor for poll, readable at the process's end.
  [[nodiscard]] int descriptor() const { return end_.get(); }

  /// Whether it has ended. If so, its descendants are killed.
  [[nodiscard]] bool has_ended() { return wait(0); }
  /// `has_ended` after waiting until `deadline` (s, on `now_seconds`'s clock).
  bool wait(double deadline = std::numeric_limits<double>::infinity());
  /// How it ended; valid after its end.
  [[nodiscard]] const ProcessEnd& how() const { return how_; }

  /// Sends a signal to the process only. Thread safety: all threads.
  void signal(int number) const;
  /// Kills it and its descendants. Thread safety: all threads.
  void kill() const;
  /// Sends SIGTERM to it and its descendants; kills the rest after `grace` seconds.
  void end(double grace);

 private:
  void take_end();

  const pid_t process_;
  std::function<int()> wait_;
  OwnedDescriptor end_;
  std::atomic<bool> ended_ = false;
  ProcessEnd how_;
};

/// Forks this process, in a group of its own. The copy is killed when the calling thread ends.
/// Returns 0 in the copy, -1 and errno on failure. For work that needs this process's memory;
/// otherwise use a `Program`.
[[nodiscard]] pid_t fork_in_group();

}  // namespace d5::detail
