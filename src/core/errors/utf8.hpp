// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace d5::detail {

struct Utf8Character {
  std::uint32_t code;
  std::size_t length;  ///< in bytes; 0 if the text does not begin with well-formed UTF-8
};
/// The first character of a text that is not empty.
[[nodiscard]] Utf8Character first_character(std::string_view text);

/// The position of the first byte that is not well-formed UTF-8, or of the first control character
/// other than line ends and tabs; npos: none.
[[nodiscard]] std::size_t first_unprintable(std::string_view text);

}  // namespace d5::detail
