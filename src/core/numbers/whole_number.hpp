// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace d5::detail {

/// Parses all of `text` as an integer, "-7"; nothing for other text, and for numbers outside `T`.
template <std::integral T>
[[nodiscard]] std::optional<T> whole_number(std::string_view text) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace d5::detail
