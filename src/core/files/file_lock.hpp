// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {

/// An exclusive lock on a file, against other processes and other threads, as long as this object
/// lives. The system also releases it at any end of the process. The file stays, empty. Throws:
/// IoError if the file cannot be created.
class FileLock {
 public:
  /// Waits for the lock. Throws: also Interrupted.
  explicit FileLock(const std::string& path, const Interrupt& interrupt = {});
  /// Nothing if the lock is held elsewhere.
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
