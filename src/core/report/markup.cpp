// SPDX-License-Identifier: Apache-2.0
#include "core/report/markup.hpp"

#include <algorithm>
#include <cstdint>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

bool begins_character(char c) { return (std::uint8_t(c) & 0xc0) != 0x80; }

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable_message(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::size_t length_of(std::string_view text) {
  return std::size_t(std::ranges::count_if(text, begins_character));
}

std::string shortened(std::string_view text, std::size_t most) {
  if (length_of(text) <= most) return std::string(text);
  std::size_t characters = 0, end = 0;
  for (; end < text.size(); ++end) {
    if (begins_character(text[end]) && ++characters == std::max<std::size_t>(most, 1)) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace d5::detail
