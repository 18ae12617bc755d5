// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace d5::detail {

/// A type of tensors in a GGUF file: blocks of `count` numbers in `bytes` bytes.
struct GgufType {
  std::uint32_t number = 0;  ///< in the file
  std::string_view name;
  std::size_t count = 1, bytes = 0;
  /// Writes the numbers of a block.
  void (*read)(const unsigned char* block, float* into) = nullptr;
};

/// Null for a type that is not read: F32, F16, Q4_0, Q4_1 and Q8_0 are.
[[nodiscard]] const GgufType* find_gguf_type(std::uint32_t number);

}  // namespace d5::detail
