// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "core/image/format.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Little-endian numbers. Throws: FormatError past the end.
std::uint32_t number_at(ImageBytes bytes, std::size_t place, std::size_t count) {
  if (place > bytes.size() || bytes.size() - place < count) {
    throw_damaged("BMP", "it ends early");
  }
  std::uint32_t result = 0;
  for (std::size_t i = count; i-- > 0;) result = result << 8 | bytes[place + i];
  return result;
}

/// A channel of a pixel that is one number.
struct ChannelBits {
  std::uint32_t mask;

  [[nodiscard]] std::uint8_t of(std::uint32_t pixel) const {
    if (mask == 0) return 0;
    const int shift = std::countr_zero(mask);
    return to_8_bits((pixel & mask) >> shift, mask >> shift);
  }
};

enum Compression : std::uint32_t { kNone = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3, kAlphaMasks = 6 };

class BmpReader {
 public:
  explicit BmpReader(ImageBytes bytes) : bytes_(bytes) {
    const std::uint32_t header = number_at(bytes, 14, 4);
    const bool old = header == 12;
    if (!old && header < 40) throw_damaged("BMP", "its header is too short");
    if (old) {
      width_ = number_at(bytes, 18, 2);
      height_ = number_at(bytes, 20, 2);
    } else {
      width_ = std::int32_t(number_at(bytes, 18, 4));
      height_ = std::int32_t(number_at(bytes, 22, 4));
    }
    if (width_ < 1) throw_damaged("BMP", "it has no width");
    top_down_ = height_ < 0;
    height_ = std::abs(height_);
    depth_ = number_at(bytes, old ? 24 : 28, 2);
    if (!old) compression_ = number_at(bytes, 30, 4);
    check_kind();
    const bool has_masks = compression_ == kMasks || compression_ == kAlphaMasks;
    if (has_masks) {
      for (std::size_t c = 0; c < 3; ++c) channels_[c].mask = number_at(bytes, 54 + 4 * c, 4);
    } else if (depth_ == 16) {
      channels_ = {{{0x7c00}, {0x3e0}, {0x1f}}};
    }
    if (depth_ <= 8) read_palette(14 + std::size_t(header), old);
    pixels_ = number_at(bytes, 10, 4);
  }

  Tensor read() {
    const bool runs = compression_ == kRuns8 || compression_ == kRuns4;
    const std::int64_t line = (width_ * depth_ + 31) / 32 * 4;
    if (!runs && (std::int64_t(bytes_.size()) - pixels_) / line < height_) {
      throw_damaged("BMP", "it ends early");
    }
    image_ = rgb_image(height_, width_);
    if (runs) {
      read_runs();
      return image_;
    }
    for (std::int64_t y = 0; y < height_; ++y) {
      const ImageBytes row = bytes_.subspan(std::size_t(pixels_ + y * line), std::size_t(line));
      for (std::int64_t x = 0; x < width_; ++x) set(x, y, color(row, std::size_t(x)));
    }
    return image_;
  }

 private:
  using Color = std::array<std::uint8_t, 3>;

  void check_kind() const {
    const bool known =
        compression_ == kNone ? depth_ == 1 || depth_ == 2 || depth_ == 4 || depth_ == 8 ||
                                    depth_ == 16 || depth_ == 24 || depth_ == 32
        : compression_ == kRuns8 ? depth_ == 8
        : compression_ == kRuns4 ? depth_ == 4
                                 : (compression_ == kMasks || compression_ == kAlphaMasks) &&
                                       (depth_ == 16 || depth_ == 32);
    if (known) return;
    throw Unsupported(fmt::format(
        "image: a BMP image of {} bits per pixel and compression {} is not decoded; convert it",
        depth_, compression_));
  }

  void read_palette(std::size_t place, bool old) {
    const std::uint32_t used = old ? 0 : number_at(bytes_, 46, 4);
    colors_ = std::min<std::size_t>(used == 0 ? 256 : used, std::size_t{1} << depth_);
    for (std::size_t i = 0; i < colors_; ++i) {
      const std::uint32_t bgr = number_at(bytes_, place + i * (old ? 3 : 4), 3);
      palette_[i] = {std::uint8_t(bgr >> 16), std::uint8_t(bgr >> 8), std::uint8_t(bgr)};
    }
  }

  /// The pixel `x` of a line that is not compressed.
  [[nodiscard]] Color color(ImageBytes line, std::size_t x) const {
    if (depth_ <= 8) {
      const std::size_t bit = x * depth_;
      return entry(line[bit / 8] >> (8 - depth_ - bit % 8) & ((1U << depth_) - 1));
    }
    const std::uint32_t pixel = number_at(line, x * depth_ / 8, depth_ / 8);
    return {channels_[0].of(pixel), channels_[1].of(pixel), channels_[2].of(pixel)};
  }
  [[nodiscard]] Color entry(std::uint32_t index) const {
    if (index >= colors_) throw_damaged("BMP", "a color is not in its palette");
    return palette_[index];
  }

  /// `y` is counted in the order of the file.
  void set(std::int64_t x, std::int64_t y, const Color& color) {
    if (x >= width_ || y >= height_) throw_damaged("BMP", "a run leaves the image");
    const std::int64_t row = top_down_ ? y : height_ - 1 - y;
    std::copy(color.begin(), color.end(), image_.data<std::uint8_t>() + (row * width_ + x) * 3);
  }

  /// Run-length encoding: pairs of a count and a color, and escape codes. Unset pixels are black.
  void read_runs() {
    std::fill_n(image_.data<std::uint8_t>(), image_.elements(), std::uint8_t(0));
    std::size_t place = pixels_;
    const auto next = [&] { return number_at(bytes_, place++, 1); };
    for (std::int64_t x = 0, y = 0;;) {
      const std::uint32_t count = next(), value = next();
      if (count > 0) {
        for (std::uint32_t i = 0; i < count; ++i) set(x++, y, run_color(value, i));
      } else if (value == 0) {  // end of line
        x = 0, ++y;
      } else if (value == 1) {  // end of image
        return;
      } else if (value == 2) {  // a jump
        x += next();
        y += next();
      } else {  // this number of literal pixels, padded to 16 bits
        const std::size_t begin = place;
        for (std::uint32_t i = 0, pair = 0; i < value; ++i) {
          if (depth_ == 8 || i % 2 == 0) pair = next();
          set(x++, y, run_color(pair, i));
        }
        place += (place - begin) % 2;
      }
    }
  }
  /// The color of a run's `i`th pixel; two 4-bit colors alternate.
  [[nodiscard]] Color run_color(std::uint32_t value, std::uint32_t i) const {
    return entry(depth_ == 8 ? value : i % 2 == 0 ? value >> 4 : value & 15);
  }

  ImageBytes bytes_;
  std::int64_t width_ = 0, height_ = 0;
  bool top_down_ = false;
  std::uint32_t depth_ = 0, compression_ = kNone, pixels_ = 0;
  std::array<ChannelBits, 3> channels_{{{0xff0000}, {0xff00}, {0xff}}};
  std::array<Color, 256> palette_{};
  std::size_t colors_ = 0;
  Tensor image_;
};

}  // namespace

Tensor decode_bmp(ImageBytes bytes) { return BmpReader(bytes).read(); }

}  // namespace d5::detail
