// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {

/// A file in a zip archive, unpacked.
struct ZipMember {
  std::string name, bytes;
};

/// All files of the archive `bytes`, with checked CRC-32. `file` is the name in messages. Throws:
/// FormatError for a damaged archive or another format; MemoryError if it unpacks to more than
/// `most_bytes`, the memory budget; Interrupted.
[[nodiscard]] std::vector<ZipMember> read_zip(std::string_view bytes, const std::string& file,
                                              std::size_t most_bytes, const Interrupt& interrupt);

/// Writes an archive in memory.
class ZipWriter {
 public:
  enum class Compression { none, deflate };
  explicit ZipWriter(Compression compression);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;
  void add(const std::string& name, std::string_view bytes);
  /// The archive. Called once, at the end.
  [[nodiscard]] std::string finish();

 private:
  void check(int status) const;
  void* archive_;
  std::string bytes_;
};

}  // namespace d5::detail
