// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/errors/utf8.hpp"

namespace d5 {
namespace {

/// Characters that move the cursor, clear the screen, change the direction of text, or are
/// invisible. Source: Unicode's categories Cc, Cf, Zl and Zp.
bool is_control(std::uint32_t code) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kRanges[] = {
      {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x600, 0x605},     {0x61c, 0x61c},
      {0x6dd, 0x6dd},   {0x70f, 0x70f},   {0x180e, 0x180e}, {0x200b, 0x200f},   {0x2028, 0x202e},
      {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0001, 0xe007f},
  };
  return std::ranges::any_of(
      kRanges, [code](const auto& range) { return code >= range.first && code <= range.second; });
}

/// Escapes the characters of `special` by a backslash, and truncates after about `most` bytes.
std::string escaped(std::string_view text, std::u32string_view special, std::size_t most) {
  const auto is_plain = [special](char c) {
    return c >= ' ' && c <= '~' && special.find(char32_t(c)) == special.npos;
  };
  std::string result;
  while (!text.empty() && result.size() < most) {
    const auto plain = std::size_t(std::ranges::find_if_not(text, is_plain) - text.begin());
    if (plain > 0) {
      const std::size_t taken = std::min(plain, most - result.size());
      result += text.substr(0, taken);
      text.remove_prefix(taken);
      continue;
    }
    const auto [code, length] = detail::first_character(text);
    const std::size_t taken = length == 0 ? 1 : length;
    if (length == 0 || is_control(code)) {
      for (const char c : text.substr(0, taken))
        result += fmt::format("\\x{:02x}", std::uint8_t(c));
    } else {
      if (special.find(char32_t(code)) != special.npos) result += '\\';
      result += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  if (!text.empty()) result += "...";
  return result;
}

}  // namespace

std::string printable(std::string_view name) { return escaped(name, U"'\\", 200); }

std::string printable_message(std::string_view message) { return escaped(message, U"", 4000); }

}  // namespace d5
