// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace d5::detail {

/// Packs bytes that come in pieces: RFC 1950 (zlib), RFC 1952 (gzip).
class Deflater {
 public:
  enum class Wrapper { zlib, gzip };
  explicit Deflater(Wrapper wrapper);
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// What is ready; maybe nothing yet.
  [[nodiscard]] std::string add(std::string_view bytes);
  /// The rest. Once, at the end.
  [[nodiscard]] std::string finish();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace d5::detail
