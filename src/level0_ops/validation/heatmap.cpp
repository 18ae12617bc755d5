// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/validation/heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "level0_ops/validation/worse.hpp"

namespace d5::detail {
namespace {

using Pixel = std::array<std::uint8_t, 3>;  ///< red, green, blue

/// A white canvas. Drawing beyond its right and lower edges is clipped.
class Canvas {
 public:
  static constexpr std::int64_t kLetterWidth = 12, kLetterHeight = 14;  ///< including spacing

  Canvas(std::int64_t width, std::int64_t height);
  void fill(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height, Pixel colour);
  /// Writes numbers, "NaN" and "inf" in black from the upper left corner on; other letters are
  /// blank.
  void write(std::int64_t x, std::int64_t y, std::string_view text);

  [[nodiscard]] const Tensor& image() const { return image_; }

 private:
  Tensor image_;
};

/// Seven rows of five dots, with the highest bit on the left.
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

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

using detail::Canvas;
using detail::Pixel;

constexpr std::int64_t kMostCells = 1024;   // per direction
constexpr std::int64_t kUsualPixels = 512;  // size of a picture with few cells
constexpr std::int64_t kMostPixelsOfCell = 32;
constexpr std::int64_t kFewestPixels = 16;  // so that a vector is wider than a line
constexpr double kEmptyCell = -1;           // value of a cell without elements
constexpr Pixel kNan = {224, 16, 32}, kInfinite = {255, 146, 0};

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A direction of the grid of tiles: maps elements to cells.
class Axis {
 public:
  /// `size` is the number of elements of a tile. Tiles are separated by a white cell if there is
  /// room.
  Axis(std::int64_t tiles, std::int64_t size) {
    const std::int64_t gap = tiles > 1 ? 1 : 0;
    const std::int64_t room = (kMostCells + gap) / tiles - gap;  // cells per tile
    if (room < 1) {
      elements_a_cell_ = size;
      tiles_a_cell_ = quotient_up(tiles, kMostCells);
      cells_ = quotient_up(tiles, tiles_a_cell_);
      return;
    }
    elements_a_cell_ = quotient_up(size, room);
    cells_a_tile_ = quotient_up(size, elements_a_cell_) + gap;
    cells_ = tiles * cells_a_tile_ - gap;
  }
  [[nodiscard]] std::int64_t cells() const { return cells_; }
  [[nodiscard]] std::int64_t cell(std::int64_t tile, std::int64_t element) const {
    return tile / tiles_a_cell_ * cells_a_tile_ + element / elements_a_cell_;
  }

 private:
  std::int64_t elements_a_cell_ = 1, tiles_a_cell_ = 1;
  std::int64_t cells_a_tile_ = 1;  ///< including the gap
  std::int64_t cells_ = 1;
};

/// The picture's values before colouring.
struct Cells {
  std::int64_t rows, columns;
  std::vector<double> sizes;  ///< row by row
};

Cells cells_of(const Tensor& values) {
  const Shape& shape = values.shape();
  const std::size_t rank = shape.rank();
  const std::int64_t width = rank > 0 ? shape[rank - 1] : 1;
  const std::int64_t height = rank > 1 ? shape[rank - 2] : 1;
  const std::int64_t tiles = values.elements() / (width * height);
  const double square = std::sqrt(double(tiles) * double(height + 1) / double(width + 1));
  const std::int64_t across = std::clamp<std::int64_t>(std::int64_t(std::ceil(square)), 1, tiles);
  const Axis x(across, width), y(quotient_up(tiles, across), height);
  Cells cells{y.cells(), x.cells(),
              std::vector<double>(std::size_t(y.cells() * x.cells()), kEmptyCell)};
  dispatch(NumberTypes{}, values.dtype(), "heatmap", [&]<class T>() {
    const T* value = values.data<T>();
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      for (std::int64_t row = 0; row < height; ++row) {
        const std::int64_t line = y.cell(tile / across, row) * cells.columns;
        for (std::int64_t column = 0; column < width; ++column, ++value) {
          double& cell = cells.sizes[std::size_t(line + x.cell(tile % across, column))];
          cell = detail::worse(cell, std::fabs(double(Arithmetic<T>(*value))));
        }
      }
    }
  });
  return cells;
}

/// The colour of `share`, from 0 to 1, in Green's cubehelix scheme: from blue to yellow by half a
/// turn, with twice the default saturation, and not up to white.
Pixel colour_of(double share) {
  constexpr double kLightest = 0.88, kHue = 2;
  const double light = kLightest * share, turned = -std::numbers::pi * light;
  const double amplitude = kHue * light * (1 - light) / 2;
  const double c = std::cos(turned), s = std::sin(turned);
  const auto channel = [&](double of_cosine, double of_sine) {
    const double value = light + amplitude * (of_cosine * c + of_sine * s);
    return std::uint8_t(std::lround(255 * std::clamp(value, 0.0, 1.0)));
  };
  return {channel(-0.14861, 1.78277), channel(-0.29227, -0.90649), channel(1.97294, 0)};
}

Pixel colour_of(double size, double largest) {
  if (std::isnan(size)) return kNan;
  if (std::isinf(size)) return kInfinite;
  return colour_of(largest > 0 ? size / largest : 0);
}

/// The colour bar below the picture.
class Scale {
 public:
  static constexpr std::int64_t kHeight = 40;

  explicit Scale(const Cells& cells) {
    for (const double size : cells.sizes) {
      if (std::isfinite(size)) largest_ = std::max(largest_, size);
      has_nan_ = has_nan_ || std::isnan(size);
      has_infinity_ = has_infinity_ || std::isinf(size);
    }
  }
  [[nodiscard]] double largest() const { return largest_; }
  [[nodiscard]] std::int64_t width() const {
    return has_nan_ || has_infinity_ ? kWords + 3 * Canvas::kLetterWidth : kBar;
  }
  void draw(Canvas& canvas, std::int64_t top) const {
    const std::int64_t upper = top + kMargin, lower = upper + Canvas::kLetterHeight + kMargin / 2;
    for (std::int64_t x = 0; x < kBar; ++x) {
      canvas.fill(x, upper, 1, Canvas::kLetterHeight, colour_of(double(x) / (kBar - 1)));
    }
    const std::string text = fmt::format("{:.3g}", largest_);
    canvas.write(0, lower, "0");
    canvas.write(kBar - std::int64_t(text.size()) * Canvas::kLetterWidth, lower, text);
    const auto explain = [&](std::int64_t y, Pixel colour, std::string_view word) {
      canvas.fill(kSamples, y, Canvas::kLetterHeight, Canvas::kLetterHeight, colour);
      canvas.write(kWords, y, word);
    };
    if (has_nan_) explain(upper, kNan, "NaN");
    if (has_infinity_) explain(lower, kInfinite, "inf");
  }

 private:
  static constexpr std::int64_t kMargin = 8, kBar = 160;
  static constexpr std::int64_t kSamples = kBar + 2 * kMargin;
  static constexpr std::int64_t kWords = kSamples + Canvas::kLetterHeight + kMargin;
  double largest_ = 0;
  bool has_nan_ = false, has_infinity_ = false;
};

}  // namespace

Tensor heatmap(const Tensor& values) {
  if (values.elements() == 0) {
    throw ShapeError(fmt::format("heatmap: {} has no elements to draw", to_string(values.desc())));
  }
  const Cells cells = cells_of(values.on_host());
  const Scale scale(cells);
  const std::int64_t side = std::clamp<std::int64_t>(
      kUsualPixels / std::max(cells.rows, cells.columns), 1, kMostPixelsOfCell);
  const std::int64_t wide = std::max(side, quotient_up(kFewestPixels, cells.columns));
  const std::int64_t high = std::max(side, quotient_up(kFewestPixels, cells.rows));
  const std::int64_t below = cells.rows * high;
  Canvas canvas(std::max(cells.columns * wide, scale.width()), below + Scale::kHeight);
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    for (std::int64_t column = 0; column < cells.columns; ++column) {
      const double size = cells.sizes[std::size_t(row * cells.columns + column)];
      if (size == kEmptyCell) continue;
      canvas.fill(column * wide, row * high, wide, high, colour_of(size, scale.largest()));
    }
  }
  scale.draw(canvas, below);
  return canvas.image();
}

}  // namespace d5
