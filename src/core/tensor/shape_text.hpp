// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/tensor/shape.hpp"

namespace d5::detail {

/// Parses a shape as written by `to_string`, "3x224x?"; nothing for other text, and for "".
[[nodiscard]] inline std::optional<Shape> shape_in(std::string_view text) {
  std::vector<std::int64_t> dims;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    std::int64_t size = kUnknownDim;
    if (word != "?") {
      const auto [rest, error] = std::from_chars(word.begin(), word.end(), size);
      if (error != std::errc() || rest != word.end() || size < 0) return std::nullopt;
    }
    dims.push_back(size);
    begin = end + 1;
  }
  return Shape(std::move(dims));
}

}  // namespace d5::detail
