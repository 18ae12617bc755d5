// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include <cstring>

#include "level2_training/image/pixel_loops.hpp"
#include "level2_training/image/pixel_loops/plain.hpp"

namespace d5::detail {
namespace {

namespace avx2 {

/// Four pixels at once, from 16 bytes: two of them in a register, four numbers a pixel, of which
/// the last is 0.
[[gnu::target("avx2")]] void narrow_rgb(const std::uint8_t* in, const ResampleWeights& weights,
                                        std::uint8_t* out) {
  const __m256i left =
      _mm256_setr_epi8(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, -1, -1, -1, -1, 3, -1, -1, -1,
                       4, -1, -1, -1, 5, -1, -1, -1, -1, -1, -1, -1);
  const __m256i right =
      _mm256_setr_epi8(6, -1, -1, -1, 7, -1, -1, -1, 8, -1, -1, -1, -1, -1, -1, -1,  //
                       9, -1, -1, -1, 10, -1, -1, -1, 11, -1, -1, -1, -1, -1, -1, -1);
  const __m256i left_weights = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  const __m256i right_weights = _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3);
  const __m128i low_bytes =
      _mm_setr_epi8(0, 4, 8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  // Bytes are written, which might be anything: what is read in the loop is no member.
  const std::int64_t size = weights.size(), count = weights.count();
  const std::int64_t* first = &weights.first(0);
  const std::int32_t* weight = weights.of(0);
  for (std::int64_t x = 0; x < size; ++x, out += 3) {
    const std::uint8_t* from = in + 3 * first[x];
    __m256i sum = _mm256_setr_epi32(plain::kHalf, plain::kHalf, plain::kHalf, plain::kHalf, 0, 0, 0,
                                    0);  // its halves are added at the end
    for (std::int64_t k = 0; k < count; k += 4, from += 12, weight += 4) {
      __m128i bytes, four_weights;
      std::memcpy(&bytes, from, sizeof bytes);
      std::memcpy(&four_weights, weight, sizeof four_weights);
      const __m256i pixels = _mm256_broadcastsi128_si256(bytes);
      const __m256i w = _mm256_castsi128_si256(four_weights);
      sum = _mm256_add_epi32(
          sum, _mm256_add_epi32(_mm256_mullo_epi32(_mm256_shuffle_epi8(pixels, left),
                                                   _mm256_permutevar8x32_epi32(w, left_weights)),
                                _mm256_mullo_epi32(_mm256_shuffle_epi8(pixels, right),
                                                   _mm256_permutevar8x32_epi32(w, right_weights))));
    }
    const __m128i both =
        _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    const std::int32_t pixel = _mm_cvtsi128_si32(
        _mm_shuffle_epi8(_mm_srai_epi32(both, ResampleWeights::kBits), low_bytes));
    std::memcpy(out, &pixel, sizeof pixel);
  }
}

[[gnu::target("avx2")]] void lower(const std::uint8_t* in, std::int64_t count,
                                   const std::int32_t* weights, std::int64_t rows,
                                   std::uint8_t* out) {
  plain::lower(in, count, weights, rows, out);
}

}  // namespace avx2

}  // namespace

PixelLoops pixel_loops() {
  if (__builtin_cpu_supports("avx2")) return {avx2::narrow_rgb, avx2::lower};
  return {[](const std::uint8_t* in, const ResampleWeights& weights, std::uint8_t* out) {
            plain::narrow(in, 3, weights, out);
          },
          plain::lower};
}

}  // namespace d5::detail
