// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace d5::detail {

/// Scale and zero point that map the range of some numbers, extended to include zero, to uint8. If
/// all are zero, the range is 1.
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

/// Quantizes `x` to uint8 in its own range, and dequantizes it to `to`. Returns `to`.
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
