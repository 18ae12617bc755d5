// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace d5::detail {

/// A process that this one has begun, in a group of its own: it and all that it began end with this
/// object.
class OwnedProcess {
 public:
  /// `wait` waits for its end, as waitpid, where another process is its parent. Throws: IoError,
  /// and it ends, where its end cannot be heard of.
  explicit OwnedProcess(pid_t process, std::function<int()> wait = {});
  ~OwnedProcess();
  OwnedProcess(const OwnedProcess&) = delete;
  OwnedProcess& operator=(const OwnedProcess&) = delete;

  /// What it has allocated, too, counts to these bytes of address space: more is refused to it.
  void limit_memory(std::size_t bytes) const;
  /// Can be waited for by poll: its end.
  [[nodiscard]] int descriptor() const { return end_; }
  /// Whether it has ended, and how: `exit_status` or, where a signal did it, `reason`.
  [[nodiscard]] bool has_ended();
  [[nodiscard]] int exit_status() const { return exit_status_; }  ///< -1: by a signal
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Thread safety: any.
  void kill() const;

 private:
  /// How it ended; nothing, by WNOHANG, where it has not.
  [[nodiscard]] std::optional<int> take_end(int options) const;

  const pid_t process_;
  std::function<int()> wait_;
  int end_ = -1;
  bool ended_ = false;
  int exit_status_ = -1;
  std::string reason_;
};

}  // namespace d5::detail
