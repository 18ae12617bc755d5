// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "core/errors/utf8.hpp"
#include "level2_training/data/tokenizer/unicode.hpp"

namespace d5::detail {

struct ClassedCharacter {
  CharacterClass kind = CharacterClass::other;
  std::size_t length = 1;  ///< in bytes
};

/// Class and length of the character there. A byte that is no UTF-8 is a character of its own, of
/// class `other`.
[[nodiscard]] inline ClassedCharacter character_at(std::string_view text, std::size_t at) {
  static const std::vector<CharacterClass>& classes = character_classes();
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {classes[byte], 1};
  const auto [code, length] = first_character(text.substr(at));
  if (length == 0) return {CharacterClass::other, 1};
  return {classes[code], length};
}

}  // namespace d5::detail
