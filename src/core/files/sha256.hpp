// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// SHA-256 (FIPS 180-4) of the pieces it is given, as 64 lower-case hexadecimal digits.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  Sha256& add(std::string_view bytes);
  /// Once, at the end.
  [[nodiscard]] std::string digest();

 private:
  void* context_;
};

[[nodiscard]] inline std::string sha256(std::string_view bytes) {
  return Sha256().add(bytes).digest();
}

}  // namespace d5::detail
