// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace d5::detail {

struct Utf8Character {
  std::uint32_t code;
  std::size_t length;  ///< in bytes; 0 where the text does not begin with well-formed UTF-8
};
/// Of a text that is not empty.
[[nodiscard]] Utf8Character first_character(std::string_view text);

/// Where `text` is no well-formed UTF-8, or has a control character (line ends and tabs are none);
/// npos: nowhere.
[[nodiscard]] std::size_t first_unprintable(std::string_view text);

}  // namespace d5::detail
