// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {

/// Replaces `path` as a whole: written beside it, flushed to the disk, then renamed. A reader, or a
/// crash at any moment, sees the old content or the new, never a mixture.
/// A device or a pipe, such as /dev/stdout, is written as it stands.
/// Throws: IoError with the system's reason.
void write_file(const std::string& path, std::string_view content);

/// The same of a file that is written piece by piece.
class ReplacedFile {
 public:
  /// Throws: IoError with the system's reason, as the others.
  explicit ReplacedFile(std::string path);
  /// Without `commit` what was there stays.
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  void write(std::string_view content);
  /// Other bytes in the place of those from `offset` on that are written. Throws: for a pipe, too.
  void overwrite(std::size_t offset, std::string_view content);
  /// Flushes, and takes the place of what was there.
  void commit();

 private:
  std::string path_, temporary_;  ///< no temporary: written in place, or committed
  int file_ = -1;
};

/// Whether `write_file` could write to `path`, asked before the work that makes its content. Leaves
/// what is there as it is. Throws: IoError with the system's reason.
void check_writable(const std::string& path);

/// The whole file. Throws: IoError if it cannot be read or is larger than `most_bytes`;
/// Interrupted.
[[nodiscard]] std::string read_file(const std::string& path,
                                    std::size_t most_bytes = std::size_t{1} << 40,
                                    const Interrupt& interrupt = {});

}  // namespace d5
