// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "level2_training/data/image/resampler.hpp"

namespace d5::detail {

/// byte * factor + offset in float64 without intermediate rounding, then converted to float32.
struct ByteLine {
  double factor = 1, offset = 0;
};

/// Inner loops on images, chosen at run time by the processor's instruction sets, which may exceed
/// those that d5 is compiled for. All of them give the same bits.
struct PixelLoops {
  /// Bytes that `narrow_rgb` reads beyond a row's last pixel, with weights of zero.
  [[nodiscard]] static std::int64_t overshoot(const ResampleWeights& weights) {
    return 3 * weights.count() + 16;
  }
  /// Computes each pixel of a row from its neighbours in the row. Writes one byte past `out`.
  void (*narrow_rgb)(const std::uint8_t* in, const ResampleWeights& weights, std::uint8_t* out);
  /// Computes a row of `count` bytes from several rows.
  void (*lower)(const std::uint8_t* in, std::int64_t count, const std::int32_t* weights,
                std::int64_t rows, std::uint8_t* out);
  /// Splits RGB pixels into one plane per channel; null if the processor has nothing faster than a
  /// table.
  void (*planes)(const std::uint8_t* rgb, std::int64_t pixels, const std::array<ByteLine, 3>& lines,
                 float* out) = nullptr;
};

[[nodiscard]] PixelLoops pixel_loops();

}  // namespace d5::detail
