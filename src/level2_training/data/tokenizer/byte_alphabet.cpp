// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/tokenizer/byte_alphabet.hpp"

#include <array>
#include <cstdint>

#include "core/errors/utf8.hpp"

namespace d5::detail {
namespace {

constexpr std::uint32_t kLetters = 0x144;  // U+0000 to U+0143
constexpr int kNoByte = -1;

/// Whether a byte is its own letter: printable in Latin-1, and no space.
constexpr bool is_own_letter(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<int, kLetters> kByteOfLetter = [] {
  std::array<int, kLetters> bytes{};
  bytes.fill(kNoByte);
  std::size_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    bytes[is_own_letter(byte) ? std::size_t(byte) : next++] = byte;
  }
  return bytes;
}();

}  // namespace

std::optional<std::string> bytes_of_letters(std::string_view entry) {
  std::string bytes;
  while (!entry.empty()) {
    const auto [code, length] = first_character(entry);
    if (length == 0 || code >= kLetters || kByteOfLetter[code] == kNoByte) return std::nullopt;
    bytes += char(kByteOfLetter[code]);
    entry.remove_prefix(length);
  }
  return bytes;
}

}  // namespace d5::detail
