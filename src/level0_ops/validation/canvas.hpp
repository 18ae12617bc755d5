// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "d5/core/tensor.hpp"

namespace d5::detail {

using Pixel = std::array<std::uint8_t, 3>;  ///< red, green, blue

/// A white picture to draw on. What lies beyond its right and lower edges is not drawn.
class Canvas {
 public:
  static constexpr std::int64_t kLetterWidth = 12, kLetterHeight = 14;  ///< with the space behind

  Canvas(std::int64_t width, std::int64_t height);
  void fill(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height, Pixel colour);
  /// In black, from its upper left corner on: numbers, "NaN" and "inf"; other letters are gaps.
  void write(std::int64_t x, std::int64_t y, std::string_view text);

  [[nodiscard]] const Tensor& image() const { return image_; }

 private:
  Tensor image_;
};

}  // namespace d5::detail
