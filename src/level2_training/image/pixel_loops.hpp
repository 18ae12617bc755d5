// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "level2_training/image/resampler.hpp"

namespace d5::detail {

/// The loops that resizing is made of, by what the processor can: what d5 is compiled for may be
/// older. All of them give the same bytes.
struct PixelLoops {
  /// How far behind a row's last pixel `narrow_rgb` reads: zeros' worth.
  [[nodiscard]] static std::int64_t overshoot(const ResampleWeights& weights) {
    return 3 * weights.count() + 16;
  }
  /// Each pixel of a row from its neighbours in the row. Writes one byte behind `out`.
  void (*narrow_rgb)(const std::uint8_t* in, const ResampleWeights& weights, std::uint8_t* out);
  /// A row of `count` bytes from `rows` of them above each other.
  void (*lower)(const std::uint8_t* in, std::int64_t count, const std::int32_t* weights,
                std::int64_t rows, std::uint8_t* out);
};

[[nodiscard]] PixelLoops pixel_loops();

}  // namespace d5::detail
