// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "level2_training/data/image/resampler.hpp"

// The loops in portable C++.
namespace d5::detail::plain {

constexpr std::int32_t kHalf = std::int32_t{1} << (ResampleWeights::kBits - 1);

/// Weights are non-negative and their sum is 1 up to rounding, so sums fit a byte.
inline std::uint8_t to_byte(std::int32_t sum) {
  return std::uint8_t(sum >> ResampleWeights::kBits);
}

inline void narrow(const std::uint8_t* in, std::int64_t channels, const ResampleWeights& weights,
                   std::uint8_t* out) {
  for (std::int64_t x = 0; x < weights.size(); ++x) {
    const std::int32_t* weight = weights.of(x);
    const std::int64_t count = weights.inside(x);
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::uint8_t* from = in + weights.first(x) * channels + c;
      std::int32_t sum = kHalf;
      for (std::int64_t k = 0; k < count; ++k) sum += weight[k] * from[k * channels];
      *out++ = to_byte(sum);
    }
  }
}

inline void narrow_rgb(const std::uint8_t* in, const ResampleWeights& weights, std::uint8_t* out) {
  narrow(in, 3, weights, out);
}

inline void lower(const std::uint8_t* in, std::int64_t count, const std::int32_t* weights,
                  std::int64_t rows, std::uint8_t* out) {
  constexpr std::int64_t kTogether = 64;  // sums stay in registers
  for (std::int64_t begin = 0; begin < count; begin += kTogether) {
    const std::int64_t n = std::min(kTogether, count - begin);
    std::int32_t sums[kTogether];
    std::fill_n(sums, kTogether, kHalf);
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::uint8_t* from = in + k * count + begin;
      if (n == kTogether) {
        for (std::int64_t i = 0; i < kTogether; ++i) sums[i] += weights[k] * from[i];
      } else {
        for (std::int64_t i = 0; i < n; ++i) sums[i] += weights[k] * from[i];
      }
    }
    for (std::int64_t i = 0; i < n; ++i) out[begin + i] = to_byte(sums[i]);
  }
}

}  // namespace d5::detail::plain
