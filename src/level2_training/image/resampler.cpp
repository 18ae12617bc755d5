// SPDX-License-Identifier: Apache-2.0
#include "level2_training/image/resampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace d5::detail {
namespace {

constexpr std::int32_t kHalf = std::int32_t{1} << (ResampleWeights::kBits - 1);

std::uint8_t to_byte(std::int32_t sum) {
  return std::uint8_t(std::clamp(sum >> ResampleWeights::kBits, 0, 255));
}

/// Each pixel of a row from its neighbours in the row. Four bytes are read of each pixel, so that
/// the last one needs a byte behind it.
void narrow_rgb(const std::uint8_t* in, const ResampleWeights& weights, std::uint8_t* out) {
  using Sums = std::int32_t __attribute__((vector_size(16)));
  using Four = std::uint8_t __attribute__((vector_size(4)));
  for (std::int64_t x = 0; x < weights.size(); ++x, out += 3) {
    const std::uint8_t* from = in + 3 * weights.first(x);
    const std::int32_t* weight = weights.of(x);
    Sums sums = {kHalf, kHalf, kHalf, kHalf};
    for (std::int64_t k = 0; k < weights.count(x); ++k, from += 3) {
      Four pixel;
      std::memcpy(&pixel, from, sizeof pixel);
      sums += __builtin_convertvector(pixel, Sums) * weight[k];
    }
    for (int c = 0; c < 3; ++c) out[c] = to_byte(sums[c]);
  }
}

void narrow(const std::uint8_t* in, std::int64_t channels, const ResampleWeights& weights,
            std::uint8_t* out) {
  for (std::int64_t x = 0; x < weights.size(); ++x) {
    const std::int32_t* weight = weights.of(x);
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::uint8_t* from = in + weights.first(x) * channels + c;
      std::int32_t sum = kHalf;
      for (std::int64_t k = 0; k < weights.count(x); ++k) sum += weight[k] * from[k * channels];
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
  most_ = std::int64_t(std::ceil(support)) * 2 + 1;
  firsts_.resize(std::size_t(out));
  counts_.resize(std::size_t(out));
  weights_.assign(std::size_t(out * most_), 0);
  for (std::int64_t i = 0; i < out; ++i) {
    const double center = begin + (double(i) + 0.5) * scale;
    const auto first = std::max<std::int64_t>(0, std::int64_t(center - support + 0.5));
    const auto end = std::min(in, std::int64_t(center + support + 0.5));
    const auto triangle = [&](std::int64_t k) {
      return std::max(0.0, 1 - std::abs((double(k) - center + 0.5) * finer));
    };
    double sum = 0;
    for (std::int64_t k = first; k < end; ++k) sum += triangle(k);
    for (std::int64_t k = first; k < end; ++k) {
      weights_[std::size_t(i * most_ + k - first)] =
          std::int32_t(triangle(k) / sum * double(std::int32_t{1} << kBits) + 0.5);
    }
    firsts_[std::size_t(i)] = first;
    counts_[std::size_t(i)] = end - first;
  }
}

void Resampler::run(const BytePixels& in, const Box& box, std::uint8_t* out,
                    const ImageSize& size) {
  columns_.set(in.width, box.left, box.width, size.width);
  rows_.set(in.height, box.top, box.height, size.height);
  // Of the rows that any row of the result needs.
  const std::int64_t first = rows_.first(0);
  const std::int64_t end = rows_.first(size.height - 1) + rows_.count(size.height - 1);
  const std::int64_t row = size.width * in.channels;
  narrowed_.resize(std::size_t((end - first) * row));
  for (std::int64_t y = first; y < end; ++y) {
    const std::uint8_t* from = in.data + y * in.stride;
    std::uint8_t* const to = narrowed_.data() + (y - first) * row;
    if (in.channels != 3) {
      narrow(from, in.channels, columns_, to);
      continue;
    }
    if (y == in.height - 1) {  // its last pixel may be the last that may be read
      last_row_.assign(from, from + 3 * in.width);
      last_row_.push_back(0);
      from = last_row_.data();
    }
    narrow_rgb(from, columns_, to);
  }
  for (std::int64_t y = 0; y < size.height; ++y) {
    lower(narrowed_.data() + (rows_.first(y) - first) * row, row, rows_.of(y), rows_.count(y),
          out + y * row);
  }
}

}  // namespace d5::detail
