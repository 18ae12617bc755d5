// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/colour.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace d5::detail {
namespace {

std::uint8_t blend(float value, float other, float factor) {
  return std::uint8_t(std::clamp(factor * value + (1 - factor) * other, 0.0F, 255.0F));
}

/// Luma of ITU-R BT.601, cut off to a byte.
std::uint8_t grey(const std::uint8_t* rgb) {
  return std::uint8_t(0.2989F * float(rgb[0]) + 0.587F * float(rgb[1]) + 0.114F * float(rgb[2]));
}

/// Hue in [0, 1), saturation and value of [0, 1].
/// Source: Smith, "Color Gamut Transform Pairs" (SIGGRAPH 1978).
std::array<float, 3> to_hsv(float red, float green, float blue) {
  const float most = std::max({red, green, blue}), least = std::min({red, green, blue});
  const float range = most - least;
  if (range == 0) return {0, 0, most};
  float sixths = most == red     ? (green - blue) / range
                 : most == green ? 2 + (blue - red) / range
                                 : 4 + (red - green) / range;
  if (sixths < 0) sixths += 6;
  return {sixths / 6, range / most, most};
}

std::array<float, 3> to_rgb(float hue, float saturation, float value) {
  const float sixths = hue * 6, whole = std::floor(sixths), rest = sixths - whole;
  const float least = value * (1 - saturation);
  const float falling = value * (1 - saturation * rest);
  const float rising = value * (1 - saturation * (1 - rest));
  switch (int(whole) % 6) {
    case 0:
      return {value, rising, least};
    case 1:
      return {falling, value, least};
    case 2:
      return {least, value, rising};
    case 3:
      return {least, falling, value};
    case 4:
      return {rising, least, value};
    default:
      return {value, least, falling};
  }
}

}  // namespace

void change_brightness(std::span<std::uint8_t> rgb, double factor) {
  for (std::uint8_t& value : rgb) value = blend(value, 0, float(factor));
}

void change_contrast(std::span<std::uint8_t> rgb, double factor) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < rgb.size(); i += 3) sum += grey(&rgb[i]);
  const auto mean = float(double(sum) / (double(rgb.size()) / 3));
  for (std::uint8_t& value : rgb) value = blend(value, mean, float(factor));
}

void change_saturation(std::span<std::uint8_t> rgb, double factor) {
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    const std::uint8_t luma = grey(&rgb[i]);
    for (std::size_t c = 0; c < 3; ++c) rgb[i + c] = blend(rgb[i + c], luma, float(factor));
  }
}

void change_hue(std::span<std::uint8_t> rgb, double turns) {
  constexpr float kNearly256 = 256 - 1e-3F;  // 1 becomes 255, and each byte has as much of [0, 1]
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    auto [hue, saturation, value] =
        to_hsv(float(rgb[i]) / 255, float(rgb[i + 1]) / 255, float(rgb[i + 2]) / 255);
    hue += float(turns);
    hue -= std::floor(hue);
    const auto turned = to_rgb(hue, saturation, value);
    for (std::size_t c = 0; c < 3; ++c) {
      rgb[i + c] = std::uint8_t(std::clamp(turned[c] * kNearly256, 0.0F, 255.0F));
    }
  }
}

}  // namespace d5::detail
