// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "d5/core/image/image.hpp"

namespace d5::detail {

/// Pixels and weights that each pixel of a resized row or column is computed from: a triangle as
/// wide as one pixel of the coarser of the two grids ("bilinear, antialiased").
///
/// Weights are fixed-point numbers of 22 bits, so that results are the same on every machine; they
/// are those of Pillow's `Image.resize(..., Resampling.BILINEAR)`. Columns are resized first, and
/// rounded to bytes; Pillow begins with the rows, so its pixels differ by at most 1.
class ResampleWeights {
 public:
  static constexpr int kBits = 22;
  /// Sets the weights from [begin, begin + length) of `in` pixels to `out` pixels. Reuses them if
  /// nothing changed.
  void set(std::int64_t in, double begin, double length, std::int64_t out);

  [[nodiscard]] std::int64_t size() const { return std::int64_t(firsts_.size()); }
  /// Weights per pixel, rounded up to a multiple of four; unused ones are 0.
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] const std::int64_t& first(std::int64_t i) const { return firsts_[std::size_t(i)]; }
  /// Number of pixel i's weights that lie in the image.
  [[nodiscard]] std::int64_t inside(std::int64_t i) const {
    return std::min(count_, in_ - first(i));
  }
  [[nodiscard]] const std::int32_t* of(std::int64_t i) const {
    return weights_.data() + i * count_;
  }

 private:
  std::int64_t in_ = 0, count_ = 0;
  double begin_ = 0, length_ = 0;
  std::vector<std::int64_t> firsts_;
  std::vector<std::int32_t> weights_;
};

/// A rectangle between pixels.
struct Box {
  double top = 0, left = 0, height = 0, width = 0;
};

/// height x width x channels bytes; rows are `stride` bytes apart.
struct BytePixels {
  const std::uint8_t* data = nullptr;
  std::int64_t height = 0, width = 0, channels = 0, stride = 0;
};

/// Resizes images of bytes, with reused memory.
class Resampler {
 public:
  /// Resizes `box` of `in` to `size`, dense.
  void run(const BytePixels& in, const Box& box, std::uint8_t* out, const ImageSize& size);

 private:
  ResampleWeights columns_, rows_;
  std::vector<std::uint8_t> narrowed_, last_row_;
};

}  // namespace d5::detail
