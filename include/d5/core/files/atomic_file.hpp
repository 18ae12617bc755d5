// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {

/// Replaces the file `path` atomically: writes a temporary file beside it, flushes it to the disk
/// and renames it. A reader sees the old content or the new, also after a crash. Devices and pipes,
/// such as /dev/stdout, are written directly.
/// Throws: IoError with the system's reason.
void write_file(const std::string& path, std::string_view content);

/// Atomic replacement of a file that is written piece by piece.
class ReplacedFile {
 public:
  /// Throws: IoError with the system's reason, as all members.
  explicit ReplacedFile(std::string path);
  /// Without `commit`, the old file stays.
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  void write(std::string_view content);
  /// Overwrites bytes that were written before, from `offset` on. Throws: IoError, also for a pipe.
  void overwrite(std::size_t offset, std::string_view content);
  /// Flushes the new content and replaces the old file.
  void commit();

 private:
  std::string path_, temporary_;  ///< empty `temporary_`: written in place, or committed
  int file_ = -1;
};

/// Checks that `write_file` could write to `path`, before the content is computed. Changes no file.
/// Throws: IoError with the system's reason.
void check_writable(const std::string& path);

/// The file's content. Throws: IoError if it cannot be read or is larger than `most_bytes`;
/// Interrupted.
[[nodiscard]] std::string read_file(const std::string& path,
                                    std::size_t most_bytes = std::size_t{1} << 40,
                                    const Interrupt& interrupt = {});

}  // namespace d5
