// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/exif_orientation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace d5::detail {
namespace {

/// Reads numbers from bytes that may end early: 0 beyond the end.
class ExifBytes {
 public:
  ExifBytes(std::span<const std::byte> bytes, bool little) : bytes_(bytes), little_(little) {}
  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t k = little_ ? count - 1 - i : i;
      value = value << 8 | std::to_integer<std::uint32_t>(bytes_[at + k]);
    }
    return value;
  }
  [[nodiscard]] bool begins_with(std::size_t at, const char* text, std::size_t count) const {
    return at <= bytes_.size() && count <= bytes_.size() - at &&
           std::memcmp(bytes_.data() + at, text, count) == 0;
  }

 private:
  std::span<const std::byte> bytes_;
  bool little_;
};

int tiff_orientation(std::span<const std::byte> tiff) {
  const bool little = ExifBytes(tiff, false).begins_with(0, "II", 2);
  const ExifBytes bytes(tiff, little);
  if (bytes.number(2, 2) != 42) return 1;
  const std::size_t directory = bytes.number(4, 4);
  const std::size_t entries = bytes.number(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (bytes.number(entry, 2) != 0x0112 || bytes.number(entry + 2, 2) != 3) continue;
    const auto orientation = static_cast<int>(bytes.number(entry + 8, 2));
    return orientation >= 1 && orientation <= 8 ? orientation : 1;
  }
  return 1;
}

}  // namespace

int exif_orientation(std::span<const std::byte> jpeg) {
  const ExifBytes bytes(jpeg, false);
  if (bytes.number(0, 2) != 0xFFD8) return 1;
  for (std::size_t at = 2; bytes.number(at, 1) == 0xFF;) {
    const std::uint32_t marker = bytes.number(at, 2);
    const std::size_t length = bytes.number(at + 2, 2);
    if (marker == 0xFFDA || length < 2 || length > jpeg.size() - std::min(jpeg.size(), at + 2)) {
      return 1;
    }
    if (marker == 0xFFE1 && length >= 8 && bytes.begins_with(at + 4, "Exif\0\0", 6)) {
      return tiff_orientation(jpeg.subspan(at + 10, length - 8));
    }
    at += 2 + length;
  }
  return 1;
}

ImageSize upright_size(const ImageSize& size, int orientation) {
  return orientation >= 5 ? ImageSize{size.width, size.height} : size;
}

void write_upright(const std::uint8_t* pixels, const ImageSize& size, int orientation,
                   std::uint8_t* out) {
  const auto [height, width] = upright_size(size, orientation);
  const bool swaps = orientation >= 5;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x, out += 3) {
      std::int64_t row = swaps ? x : y, column = swaps ? y : x;
      if (from_bottom) row = size.height - 1 - row;
      if (from_right) column = size.width - 1 - column;
      std::copy_n(pixels + 3 * (row * size.width + column), 3, out);
    }
  }
}

}  // namespace d5::detail
