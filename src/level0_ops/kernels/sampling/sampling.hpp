// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "d5/core/tensor/shape.hpp"

// Interpolation in a tensor of up to three spatial dimensions.
namespace d5::detail {

/// The elements that contribute to a coordinate along one dimension. Elements outside are zero and
/// have the index -1.
template <class C>
struct AxisSample {
  std::size_t count = 1;
  std::array<std::int64_t, 4> index = {};
  std::array<C, 4> weight = {1};
  std::array<C, 4> slope = {};  ///< derivative of the weight by the coordinate
};

/// Linear interpolation between the neighbours of `place`, with zeros outside [0, size).
template <class C>
[[nodiscard]] AxisSample<C> linear_sample(C place, std::int64_t size) {
  const C left = std::floor(place);
  if (!(left >= -1 && left < C(size))) return {.index = {-1}};  // NaN, too
  const auto i = std::int64_t(left);
  const C right = place - left;
  return {.count = 2,
          .index = {i, i + 1 < size ? i + 1 : -1},
          .weight = {1 - right, right},
          .slope = {-1, 1}};
}

/// The elements of a channel that contribute to a point: products of up to three axes' samples.
template <class C>
struct PointSample {
  struct Tap {
    std::int64_t offset;
    C weight;
    std::array<C, 3> slope;  ///< derivatives of the weight along each axis
  };
  std::size_t count = 0;
  std::array<Tap, 64> taps;

  /// `axes` are depth, height and width; `sizes` are their sizes.
  void set(const std::array<AxisSample<C>, 3>& axes, const std::array<std::int64_t, 3>& sizes) {
    count = 0;
    const auto& [depth, height, width] = axes;
    for (std::size_t z = 0; z < depth.count; ++z) {
      if (depth.index[z] < 0) continue;
      for (std::size_t y = 0; y < height.count; ++y) {
        if (height.index[y] < 0) continue;
        const std::int64_t row = (depth.index[z] * sizes[1] + height.index[y]) * sizes[2];
        for (std::size_t x = 0; x < width.count; ++x) {
          if (width.index[x] < 0) continue;
          const C wz = depth.weight[z], wy = height.weight[y], wx = width.weight[x];
          taps[count++] = {
              row + width.index[x],
              wz * wy * wx,
              {depth.slope[z] * wy * wx, wz * height.slope[y] * wx, wz * wy * width.slope[x]}};
        }
      }
    }
  }
};

/// The spatial sizes of N x C x spatial; missing leading ones are 1.
[[nodiscard]] inline std::array<std::int64_t, 3> spatial_sizes(const Shape& shape) {
  std::array<std::int64_t, 3> sizes = {1, 1, 1};
  for (std::size_t d = 2; d < shape.rank(); ++d) sizes[3 - shape.rank() + d] = shape[d];
  return sizes;
}

}  // namespace d5::detail
