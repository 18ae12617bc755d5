// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace d5::detail {

/// Scale and zero point with which uint8 holds the range of some numbers, stretched to hold zero.
/// Of zeros alone the range counts as 1.
struct DynamicRange {
  float scale, zero;

  template <class T>
  [[nodiscard]] static DynamicRange of(std::span<const T> x) {
    float least = 0, largest = 0;
    for (const T value : x) {
      least = std::min(least, float(value));
      largest = std::max(largest, float(value));
    }
    const float scale = (least == largest ? 1.0f : largest - least) / 255.0f;
    return {scale, std::nearbyint(std::clamp(0.0f - least / scale, 0.0f, 255.0f))};
  }
};

/// What `x` is after it was quantized to uint8 in its own range, written to `to`, which is
/// returned.
template <class T>
const T* dynamically_quantized(const T* x, std::int64_t count, T* to) {
  const auto [scale, zero] = DynamicRange::of(std::span(x, std::size_t(count)));
  for (std::int64_t i = 0; i < count; ++i) {
    const float q = std::clamp(std::nearbyint(float(x[i]) / scale) + zero, 0.0f, 255.0f);
    to[i] = T((q - zero) * scale);
  }
  return to;
}

}  // namespace d5::detail
