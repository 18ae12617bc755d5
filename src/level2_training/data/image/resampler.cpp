// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/resampler.hpp"

#include <algorithm>
#include <cmath>

#include "level2_training/data/image/pixel_loops.hpp"
#include "level2_training/data/image/pixel_loops/plain.hpp"

namespace d5::detail {
namespace {

constexpr std::int64_t kGroup = 4;  ///< weights that are used at once

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
  // Usually one group fewer than the upper bound.
  const std::int64_t fewer = (needed + kGroup - 1) / kGroup * kGroup;
  for (std::int64_t i = 1; fewer < count_ && i < out; ++i) {
    std::copy_n(weights_.begin() + i * count_, fewer, weights_.begin() + i * fewer);
  }
  count_ = fewer;
}

void Resampler::run(const BytePixels& in, const Box& box, std::uint8_t* out,
                    const ImageSize& size) {
  static const PixelLoops loops = pixel_loops();
  columns_.set(in.width, box.left, box.width, size.width);
  rows_.set(in.height, box.top, box.height, size.height);
  // Only rows that some row of the result needs.
  const std::int64_t first = rows_.first(0);
  const std::int64_t end = rows_.first(size.height - 1) + rows_.inside(size.height - 1);
  const std::int64_t row = size.width * in.channels, in_row = in.width * in.channels;
  narrowed_.resize(std::size_t((end - first) * row + 1));
  const std::int64_t read = in_row + PixelLoops::overshoot(columns_);
  const std::uint8_t* const behind = in.data + (in.height - 1) * in.stride + in_row;
  for (std::int64_t y = first; y < end; ++y) {
    const std::uint8_t* from = in.data + y * in.stride;
    std::uint8_t* const to = narrowed_.data() + (y - first) * row;
    if (in.channels != 3) {
      plain::narrow(from, in.channels, columns_, to);
      continue;
    }
    if (behind - from < read) {  // the last rows
      last_row_.resize(std::size_t(read));
      std::copy_n(from, in_row, last_row_.data());
      from = last_row_.data();
    }
    loops.narrow_rgb(from, columns_, to);
  }
  for (std::int64_t y = 0; y < size.height; ++y) {
    std::int64_t rows = rows_.inside(y);
    while (rows > 1 && rows_.of(y)[rows - 1] == 0) --rows;
    loops.lower(narrowed_.data() + (rows_.first(y) - first) * row, row, rows_.of(y), rows,
                out + y * row);
  }
}

}  // namespace d5::detail
