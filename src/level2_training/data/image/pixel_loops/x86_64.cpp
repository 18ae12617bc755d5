// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include <cstring>

#include "level2_training/data/image/pixel_loops.hpp"
#include "level2_training/data/image/pixel_loops/plain.hpp"

namespace d5::detail {
namespace {

namespace avx2 {

/// Four pixels at once, from 16 bytes: two in each register, four numbers per pixel, the last of
/// which is 0.
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
  // Written bytes may alias anything, so the loop reads no members.
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

/// Computes 32 bytes of two rows at once. A weight is split into 11 and 11 bits, so that the
/// products of two weights with bytes are one instruction.
[[gnu::target("avx2")]] void lower(const std::uint8_t* in, std::int64_t count,
                                   const std::int32_t* weights, std::int64_t rows,
                                   std::uint8_t* out) {
  constexpr std::int64_t kTogether = 32;
  constexpr int kLow = ResampleWeights::kBits / 2;
  constexpr std::int32_t kLowBits = (1 << kLow) - 1;
  const __m256i zero = _mm256_setzero_si256();
  std::int64_t begin = 0;
  for (; begin + kTogether <= count; begin += kTogether) {
    __m256i high[4] = {zero, zero, zero, zero}, low[4];
    for (__m256i& sum : low) sum = _mm256_set1_epi32(plain::kHalf);
    for (std::int64_t k = 0; k < rows; k += 2) {
      const std::uint8_t* from = in + k * count + begin;
      const bool pair = k + 1 < rows;
      const std::int32_t first = weights[k], second = pair ? weights[k + 1] : 0;
      const __m256i high_weights = _mm256_set1_epi32((first >> kLow) | (second >> kLow) << 16);
      const __m256i low_weights = _mm256_set1_epi32((first & kLowBits) | (second & kLowBits) << 16);
      __m256i upper, lower = zero;
      std::memcpy(&upper, from, sizeof upper);
      if (pair) std::memcpy(&lower, from + count, sizeof lower);
      const __m256i left = _mm256_unpacklo_epi8(upper, lower);
      const __m256i right = _mm256_unpackhi_epi8(upper, lower);
      const __m256i pairs[4] = {_mm256_unpacklo_epi8(left, zero), _mm256_unpackhi_epi8(left, zero),
                                _mm256_unpacklo_epi8(right, zero),
                                _mm256_unpackhi_epi8(right, zero)};
      for (int i = 0; i < 4; ++i) {
        high[i] = _mm256_add_epi32(high[i], _mm256_madd_epi16(pairs[i], high_weights));
        low[i] = _mm256_add_epi32(low[i], _mm256_madd_epi16(pairs[i], low_weights));
      }
    }
    for (int i = 0; i < 4; ++i) {
      low[i] = _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(high[i], kLow), low[i]),
                                 ResampleWeights::kBits);
    }
    const __m256i bytes =
        _mm256_packus_epi16(_mm256_packs_epi32(low[0], low[1]), _mm256_packs_epi32(low[2], low[3]));
    std::memcpy(out + begin, &bytes, sizeof bytes);
  }
  for (; begin < count; ++begin) {
    std::int32_t sum = plain::kHalf;
    for (std::int64_t k = 0; k < rows; ++k) sum += weights[k] * in[k * count + begin];
    out[begin] = plain::to_byte(sum);
  }
}

/// Sixteen pixels at once.
[[gnu::target("avx2,fma")]] void planes(const std::uint8_t* rgb, std::int64_t pixels,
                                        const std::array<ByteLine, 3>& lines, float* out) {
  constexpr std::int64_t kTogether = 16;
  // Shuffle masks that select one channel from 48 bytes: from the first 16, the next, the last.
  std::int8_t places[3][3][16];
  for (int c = 0; c < 3; ++c) {
    for (int part = 0; part < 3; ++part) {
      for (int i = 0; i < 16; ++i) {
        const int place = 3 * i + c - 16 * part;
        places[c][part][i] = std::int8_t(place >= 0 && place < 16 ? place : -1);
      }
    }
  }
  std::int64_t begin = 0;
  for (; begin + kTogether <= pixels; begin += kTogether) {
    __m128i parts[3];
    std::memcpy(parts, rgb + 3 * begin, sizeof parts);
    for (std::size_t c = 0; c < 3; ++c) {
      const __m256d factor = _mm256_set1_pd(lines[c].factor);
      const __m256d offset = _mm256_set1_pd(lines[c].offset);
      __m128i bytes = _mm_setzero_si128();
      for (int part = 0; part < 3; ++part) {
        __m128i chosen;
        std::memcpy(&chosen, places[c][part], sizeof chosen);
        bytes = _mm_or_si128(bytes, _mm_shuffle_epi8(parts[part], chosen));
      }
      float* const to = out + std::int64_t(c) * pixels + begin;
      for (int i = 0; i < 4; ++i, bytes = _mm_srli_si128(bytes, 4)) {
        const __m256d values = _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(bytes));
        _mm_storeu_ps(to + 4 * i, _mm256_cvtpd_ps(_mm256_fmadd_pd(values, factor, offset)));
      }
    }
  }
  for (; begin < pixels; ++begin) {
    for (std::size_t c = 0; c < 3; ++c) {
      out[std::int64_t(c) * pixels + begin] =
          float(__builtin_fma(rgb[3 * begin + std::int64_t(c)], lines[c].factor, lines[c].offset));
    }
  }
}

}  // namespace avx2

}  // namespace

PixelLoops pixel_loops() {
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {avx2::narrow_rgb, avx2::lower, avx2::planes};
  }
  return {plain::narrow_rgb, plain::lower};
}

}  // namespace d5::detail
