// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "level2_training/data/image/pixel_loops.hpp"
#include "level2_training/data/image/pixel_loops/plain.hpp"

namespace d5::detail {
namespace {

using Bytes = std::uint8_t __attribute__((vector_size(16)));
using Sums = std::int32_t __attribute__((vector_size(16)));

/// Converts the four bytes from place `at` on to numbers. A shuffle with zero bytes is one
/// instruction; a type conversion is not.
template <int at>
Sums numbers(Bytes bytes) {
  constexpr int kZero = 16;
  return Sums(__builtin_shufflevector(bytes, Bytes{}, at, kZero, kZero, kZero, at + 1, kZero, kZero,
                                      kZero, at + 2, kZero, kZero, kZero, at + 3, kZero, kZero,
                                      kZero));
}

/// Computes four pixels at once, from 16 bytes.
void narrow_rgb(const std::uint8_t* in, const ResampleWeights& weights, std::uint8_t* out) {
  const std::int64_t size = weights.size(), count = weights.count();
  const std::int64_t* first = &weights.first(0);
  const std::int32_t* w = weights.of(0);
  for (std::int64_t x = 0; x < size; ++x, out += 3) {
    const std::uint8_t* from = in + 3 * first[x];
    Sums sum = {plain::kHalf, plain::kHalf, plain::kHalf, plain::kHalf};
    for (std::int64_t k = 0; k < count; k += 4, from += 12, w += 4) {
      Bytes pixels;
      std::memcpy(&pixels, from, sizeof pixels);
      sum += (numbers<0>(pixels) * w[0] + numbers<3>(pixels) * w[1]) +
             (numbers<6>(pixels) * w[2] + numbers<9>(pixels) * w[3]);
    }
    const auto results = Bytes(sum >> ResampleWeights::kBits);
    const auto pixel = __builtin_shufflevector(results, results, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8,
                                               12, 0, 4, 8, 12);
    std::memcpy(out, &pixel, 4);
  }
}

}  // namespace

PixelLoops pixel_loops() { return {narrow_rgb, plain::lower}; }

}  // namespace d5::detail
