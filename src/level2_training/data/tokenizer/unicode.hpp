// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace d5::detail {

/// Classes that cut texts into words: \p{L}, \p{N} and \s of regular expressions.
enum class CharacterClass : std::uint8_t { other, letter, number, space };

/// Classes by code point, of all 1,114,112. Throws: Unsupported without ICU.
[[nodiscard]] const std::vector<CharacterClass>& character_classes();

/// Unicode's normal forms.
enum class NormalForm : std::uint8_t { nfc, nfd, nfkc, nfkd };

/// The text in a normal form. Bytes that are not UTF-8 stay. Throws: Unsupported without ICU.
[[nodiscard]] std::string in_normal_form(NormalForm form, std::string_view text);

}  // namespace d5::detail
