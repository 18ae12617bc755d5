// SPDX-License-Identifier: Apache-2.0
#include "level2_training/image/resampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace d5::detail {
namespace {

constexpr std::int32_t kHalf = std::int32_t{1} << (ResampleWeights::kBits - 1);

constexpr std::int64_t kGroup = 4;  ///< weights that are used at once

/// Weights are not negative and their sum is 1 but for rounding: no sum leaves a byte.
std::uint8_t to_byte(std::int32_t sum) { return std::uint8_t(sum >> ResampleWeights::kBits); }

/// How far behind a row's last pixel its narrowing reads: zeros' worth.
std::int64_t overshoot(const ResampleWeights& weights) { return 3 * weights.count() + 16; }

using Bytes = std::uint8_t __attribute__((vector_size(16)));
using Sums = std::int32_t __attribute__((vector_size(16)));

/// Four bytes from place `at` on as numbers. Written as a choice of bytes, among them 0: that is
/// one instruction, a conversion of the type is not.
template <int at>
Sums numbers(Bytes bytes) {
  constexpr int kZero = 16;
  return Sums(__builtin_shufflevector(bytes, Bytes{}, at, kZero, kZero, kZero, at + 1, kZero, kZero,
                                      kZero, at + 2, kZero, kZero, kZero, at + 3, kZero, kZero,
                                      kZero));
}

/// Each pixel of a row from its neighbours in the row, four of them at once. Reads up to
/// `overshoot` bytes behind the row, and writes one byte behind `out`.
void narrow_rgb(const std::uint8_t* in, const ResampleWeights& weights, std::uint8_t* out) {
  const std::int64_t count = weights.count();
  const std::int32_t* w = weights.of(0);
  for (std::int64_t x = 0; x < weights.size(); ++x, out += 3) {
    const std::uint8_t* from = in + 3 * weights.first(x);
    Sums sum = {kHalf, kHalf, kHalf, kHalf};
    for (std::int64_t k = 0; k < count; k += kGroup, from += 3 * kGroup, w += kGroup) {
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

void narrow(const std::uint8_t* in, std::int64_t channels, const ResampleWeights& weights,
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

/// A row from those above each other, which are `count` bytes long.
void lower(const std::uint8_t* in, std::int64_t count, const std::int32_t* weight,
           std::int64_t weights, std::uint8_t* out) {
  constexpr std::int64_t kTogether = 64;  // sums stay in registers
  for (std::int64_t begin = 0; begin < count; begin += kTogether) {
    const std::int64_t n = std::min(kTogether, count - begin);
    std::int32_t sums[kTogether];
    std::fill_n(sums, kTogether, kHalf);
    for (std::int64_t k = 0; k < weights; ++k) {
      const std::uint8_t* from = in + k * count + begin;
      if (n == kTogether) {
        for (std::int64_t i = 0; i < kTogether; ++i) sums[i] += weight[k] * from[i];
      } else {
        for (std::int64_t i = 0; i < n; ++i) sums[i] += weight[k] * from[i];
      }
    }
    for (std::int64_t i = 0; i < n; ++i) out[begin + i] = to_byte(sums[i]);
  }
}

}  // namespace

void ResampleWeights::set(std::int64_t in, double begin, double length, std::int64_t out) {
  if (in == in_ && begin == begin_ && length == length_ && out == size()) return;
  in_ = in;
  begin_ = begin;
  length_ = length;
  const double scale = length / double(out), support = std::max(scale, 1.0);
  const double finer = 1 / support;
  const auto most = std::int64_t(std::ceil(support)) * 2 + 1;
  count_ = (most + kGroup - 1) / kGroup * kGroup;
  std::int64_t needed = 0;
  firsts_.resize(std::size_t(out));
  weights_.assign(std::size_t(out * count_), 0);
  for (std::int64_t i = 0; i < out; ++i) {
    const double middle = double(i) + 0.5;
    const double center = begin + middle * scale;
    const auto first = std::max<std::int64_t>(0, std::int64_t(center - support + 0.5));
    const auto end = std::min(in, std::int64_t(center + support + 0.5));
    const auto triangle = [&](std::int64_t k) {
      return std::max(0.0, 1 - std::abs((double(k) - center + 0.5) * finer));
    };
    double sum = 0;
    for (std::int64_t k = first; k < end; ++k) sum += triangle(k);
    for (std::int64_t k = first; k < end; ++k) {
      weights_[std::size_t(i * count_ + k - first)] =
          std::int32_t(triangle(k) / sum * double(std::int32_t{1} << kBits) + 0.5);
    }
    firsts_[std::size_t(i)] = first;
    needed = std::max(needed, end - first);
  }
  // Most often a group less than the most that there might be.
  const std::int64_t fewer = (needed + kGroup - 1) / kGroup * kGroup;
  for (std::int64_t i = 1; fewer < count_ && i < out; ++i) {
    std::copy_n(weights_.begin() + i * count_, fewer, weights_.begin() + i * fewer);
  }
  count_ = fewer;
}

void Resampler::run(const BytePixels& in, const Box& box, std::uint8_t* out,
                    const ImageSize& size) {
  columns_.set(in.width, box.left, box.width, size.width);
  rows_.set(in.height, box.top, box.height, size.height);
  // Of the rows that any row of the result needs.
  const std::int64_t first = rows_.first(0);
  const std::int64_t end = rows_.first(size.height - 1) + rows_.inside(size.height - 1);
  const std::int64_t row = size.width * in.channels, in_row = in.width * in.channels;
  narrowed_.resize(std::size_t((end - first) * row + 1));
  const std::uint8_t* const behind = in.data + (in.height - 1) * in.stride + in_row;
  for (std::int64_t y = first; y < end; ++y) {
    const std::uint8_t* from = in.data + y * in.stride;
    std::uint8_t* const to = narrowed_.data() + (y - first) * row;
    if (in.channels != 3) {
      narrow(from, in.channels, columns_, to);
      continue;
    }
    if (behind - from < in_row + overshoot(columns_)) {  // the last rows
      last_row_.resize(std::size_t(in_row + overshoot(columns_)));
      std::copy_n(from, in_row, last_row_.data());
      from = last_row_.data();
    }
    narrow_rgb(from, columns_, to);
  }
  for (std::int64_t y = 0; y < size.height; ++y) {
    lower(narrowed_.data() + (rows_.first(y) - first) * row, row, rows_.of(y), rows_.inside(y),
          out + y * row);
  }
}

}  // namespace d5::detail
