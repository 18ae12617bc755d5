// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {

/// SHA-256 (FIPS 180-4) of a sequence of pieces, as 64 lower-case hexadecimal digits.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  Sha256& add(std::string_view bytes);
  /// Called once, at the end.
  [[nodiscard]] std::string digest();

 private:
  void* context_;
};

[[nodiscard]] inline std::string sha256(std::string_view bytes) {
  return Sha256().add(bytes).digest();
}

/// Calls `piece` with consecutive pieces of the file, which may be larger than memory.
/// Throws: IoError, Interrupted.
void for_each_piece(const std::string& path, const std::function<void(std::string_view)>& piece,
                    const Interrupt& interrupt = {});
/// Throws: IoError, Interrupted.
[[nodiscard]] std::string sha256_of_file(const std::string& path, const Interrupt& interrupt = {});

}  // namespace d5::detail
