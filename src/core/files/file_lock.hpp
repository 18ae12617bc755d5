// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {

/// Holds a file for this object alone, against other processes and other threads, while it lives;
/// the system lets go of it too if the process ends however it may. The file stays, empty.
/// Throws: IoError if there can be no such file.
class FileLock {
 public:
  /// Waits for whoever holds it. Throws: Interrupted too.
  explicit FileLock(const std::string& path, const Interrupt& interrupt = {});
  /// Nothing where somebody holds it.
  [[nodiscard]] static std::optional<FileLock> if_free(const std::string& path);
  FileLock(FileLock&& other) noexcept : file_(other.file_) { other.file_ = -1; }
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock() = default;
  bool take(const std::string& path);
  int file_ = -1;
};

}  // namespace d5::detail
