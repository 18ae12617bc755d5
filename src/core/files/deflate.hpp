// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace d5::detail {

/// Compresses a stream of bytes: RFC 1950 (zlib), RFC 1952 (gzip).
class Deflater {
 public:
  enum class Wrapper { zlib, gzip };
  explicit Deflater(Wrapper wrapper);
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// Returns the compressed bytes that are ready; possibly none.
  [[nodiscard]] std::string add(std::string_view bytes);
  /// Returns the remaining bytes. Called once, at the end.
  [[nodiscard]] std::string finish();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace d5::detail
