// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/canvas.hpp"

#include <algorithm>

namespace d5::detail {
namespace {

/// Seven rows of five dots, the highest bit at the left.
struct Letter {
  char letter;
  std::array<std::uint8_t, 7> rows;
};
constexpr std::array kLetters = {
    Letter{'0', {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110}},
    Letter{'1', {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
    Letter{'2', {0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111}},
    Letter{'3', {0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110}},
    Letter{'4', {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010}},
    Letter{'5', {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110}},
    Letter{'6', {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110}},
    Letter{'7', {0b11111, 0b00001, 0b00010, 0b00100, 0b00100, 0b01000, 0b01000}},
    Letter{'8', {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110}},
    Letter{'9', {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100}},
    Letter{'.', {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100}},
    Letter{'-', {0b00000, 0b00000, 0b00000, 0b01110, 0b00000, 0b00000, 0b00000}},
    Letter{'+', {0b00000, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0b00000}},
    Letter{'e', {0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110}},
    Letter{'N', {0b10001, 0b11001, 0b10101, 0b10101, 0b10011, 0b10001, 0b10001}},
    Letter{'a', {0b00000, 0b00000, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111}},
    Letter{'i', {0b00100, 0b00000, 0b01100, 0b00100, 0b00100, 0b00100, 0b01110}},
    Letter{'n', {0b00000, 0b00000, 0b10110, 0b11001, 0b10001, 0b10001, 0b10001}},
    Letter{'f', {0b00110, 0b01001, 0b01000, 0b11100, 0b01000, 0b01000, 0b01000}},
};
constexpr std::int64_t kDot = 2;  ///< pixels

}  // namespace

Canvas::Canvas(std::int64_t width, std::int64_t height)
    : image_(Tensor::empty(DType::uint8, {height, width, 3})) {
  fill(0, 0, width, height, {255, 255, 255});
}

void Canvas::fill(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
                  Pixel colour) {
  const std::int64_t right = std::min(x + width, image_.shape()[1]);
  const std::int64_t bottom = std::min(y + height, image_.shape()[0]);
  for (std::int64_t row = y; row < bottom; ++row) {
    std::uint8_t* to = image_.data<std::uint8_t>() + (row * image_.shape()[1] + x) * 3;
    for (std::int64_t column = x; column < right; ++column) to = std::ranges::copy(colour, to).out;
  }
}

void Canvas::write(std::int64_t x, std::int64_t y, std::string_view text) {
  for (const char letter : text) {
    const auto shape = std::ranges::find(kLetters, letter, &Letter::letter);
    for (std::int64_t row = 0; shape != kLetters.end() && row < 7; ++row) {
      for (std::int64_t column = 0; column < 5; ++column) {
        if ((shape->rows[std::size_t(row)] >> (4 - column) & 1) == 0) continue;
        fill(x + column * kDot, y + row * kDot, kDot, kDot, {0, 0, 0});
      }
    }
    x += kLetterWidth;
  }
}

}  // namespace d5::detail
