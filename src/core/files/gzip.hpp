// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace d5::detail {

/// How a file may be compressed as a whole.
enum class Packing {
  gzip_or_none,  ///< told by its first bytes
  zlib,
};

/// The content of a file that may be compressed, read in pieces, so that a reader decides how much
/// to take before anything is unpacked.
class GzipReader {
 public:
  /// `file` names the bytes in messages; `bytes` must outlive the reader.
  GzipReader(std::string_view bytes, std::string file, Packing packing = Packing::gzip_or_none);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Fills `[to, to + count)` as far as there is content; returns how much there was.
  /// Throws: FormatError for a broken stream.
  std::size_t read(void* to, std::size_t count);
  /// No more than this many bytes can still come: deflate packs at most 1032 into one.
  [[nodiscard]] std::size_t most_left() const;
  /// Bytes of the file that were not read yet, packed as they are.
  [[nodiscard]] std::size_t packed_left() const { return left_.size(); }
  [[nodiscard]] bool compressed() const { return stream_ != nullptr; }

 private:
  struct Stream;
  std::string_view left_;
  std::string file_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace d5::detail
