// SPDX-License-Identifier: Apache-2.0
// PBM, PGM and PPM images, as text (P1 to P3) and as bytes (P4 to P6).
#include <algorithm>

#include "core/image/format.hpp"

namespace d5::detail {
namespace {

bool is_space(std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(std::uint8_t c) { return c >= '0' && c <= '9'; }

class PnmReader {
 public:
  explicit PnmReader(ImageBytes bytes)
      : left_(bytes.subspan(2)),
        kind_((bytes[1] - '1') % 3),
        text_(bytes[1] <= '3'),
        width_(number()),
        height_(number()),
        most_(kind_ == kBits ? 1 : number()) {
    if (most_ < 1 || most_ > 65535) throw_damaged("PNM", "its largest value is not in [1, 65535]");
    if (!text_) next();  // one space ends the header
  }

  Tensor read() {
    const std::int64_t channels = kind_ == kColors ? 3 : 1, line = width_ * channels;
    const std::int64_t line_bytes = text_            ? line  // at least
                                    : kind_ == kBits ? (line + 7) / 8
                                    : most_ > 255    ? line * 2
                                                     : line;
    if (std::int64_t(left_.size()) < line_bytes * height_) end();
    Tensor image = rgb_image(height_, width_);
    std::uint8_t* to = image.data<std::uint8_t>();
    for (std::int64_t y = 0; y < height_; ++y) {
      for (std::int64_t i = 0; i < line; ++i) {
        const std::uint8_t value = sample(i);
        for (std::int64_t copies = 3 / channels; copies-- > 0;) *to++ = value;
      }
    }
    return image;
  }

 private:
  static constexpr int kBits = 0, kColors = 2;

  [[noreturn]] static void end() { throw_damaged("PNM", "it ends early"); }

  std::uint8_t next() {
    if (left_.empty()) end();
    const std::uint8_t result = left_.front();
    left_ = left_.subspan(1);
    return result;
  }
  std::int64_t two_bytes() {
    const std::int64_t high = next();
    return high * 256 + next();
  }
  void skip_spaces() {
    while (!left_.empty() && (is_space(left_.front()) || left_.front() == '#')) {
      if (next() != '#') continue;
      while (!left_.empty() && next() != '\n') continue;
    }
  }
  std::int64_t number() {
    skip_spaces();
    std::int64_t result = 0;
    if (left_.empty() || !is_digit(left_.front())) throw_damaged("PNM", "a number is missing");
    while (!left_.empty() && is_digit(left_.front())) {
      result = std::min<std::int64_t>(result * 10 + next() - '0', 1 << 30);
    }
    return result;
  }

  /// The `i`th sample of a line.
  std::uint8_t sample(std::int64_t i) {
    if (kind_ == kBits) return bit(i) ? 0 : 255;
    const std::int64_t value = text_ ? number() : most_ > 255 ? two_bytes() : next();
    if (value > most_) throw_damaged("PNM", "a sample is larger than the largest value");
    return to_8_bits(std::uint64_t(value), std::uint64_t(most_));
  }
  bool bit(std::int64_t i) {
    if (!text_) {
      if (i % 8 == 0) bits_ = next();
      return (bits_ >> (7 - i % 8) & 1) != 0;
    }
    skip_spaces();
    const std::uint8_t digit = next();  // spaces between digits are optional
    if (digit != '0' && digit != '1') throw_damaged("PNM", "a bit is neither 0 nor 1");
    return digit == '1';
  }

  ImageBytes left_;
  int kind_;
  bool text_;
  std::int64_t width_, height_, most_;
  std::uint8_t bits_ = 0;
};

}  // namespace

Tensor decode_pnm(ImageBytes bytes) { return PnmReader(bytes).read(); }

}  // namespace d5::detail
