// SPDX-License-Identifier: Apache-2.0
#include "core/errors/utf8.hpp"

namespace d5::detail {

Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return std::uint32_t(std::uint8_t(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {lead, 0};
  std::uint32_t code = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {lead, 0};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[length] || code > 0x10ffff || is_surrogate) return {lead, 0};
  return {code, length};
}

std::size_t first_unprintable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, length] = first_character(text.substr(at));
    const bool moves_on = code == '\t' || code == '\n' || code == '\r';
    if (length == 0 || (code < 0x20 && !moves_on) || code == 0x7f) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace d5::detail
