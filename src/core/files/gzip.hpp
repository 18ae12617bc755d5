// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace d5::detail {

/// Compression of a whole file.
enum class Packing {
  gzip_or_none,  ///< detected by its first bytes
  zlib,
};

/// Reads the content of a possibly compressed file in pieces, so that the reader can limit it
/// before anything is unpacked.
class GzipReader {
 public:
  /// `file` is the name in messages. `bytes` must outlive the reader.
  GzipReader(std::string_view bytes, std::string file, Packing packing = Packing::gzip_or_none);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Reads up to `count` bytes to `to`; returns the number of bytes read.
  /// Throws: FormatError for a broken stream.
  std::size_t read(void* to, std::size_t count);
  /// An upper bound of the remaining bytes: the ratio of deflate is at most 1032.
  [[nodiscard]] std::size_t most_left() const;
  /// Compressed bytes of the file that were not read yet.
  [[nodiscard]] std::size_t packed_left() const { return left_.size(); }
  [[nodiscard]] bool compressed() const { return stream_ != nullptr; }

 private:
  struct Stream;
  std::string_view left_;
  std::string file_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace d5::detail
