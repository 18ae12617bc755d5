// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/tensor/shape.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::detail {

/// `count` elements, `stride` apart.
template <class T>
struct Line {
  T* data;
  std::int64_t count, stride;
  T& operator[](std::int64_t i) const { return data[i * stride]; }
  /// The line in reverse order.
  [[nodiscard]] Line reversed() const { return {data + (count - 1) * stride, count, -stride}; }
};

/// A tensor as outer x count x inner: its lines along an axis have `count` elements with stride
/// `inner`.
struct Lines {
  std::int64_t outer = 1, count = 1, inner = 1;

  static Lines along(std::size_t axis, const Shape& x) {
    return {x.elements(0, axis), x[axis], x.elements(axis + 1, x.rank())};
  }

  /// The line beginning at `first`.
  template <class T>
  [[nodiscard]] Line<T> line(T* first) const {
    return {first, count, inner};
  }
  /// Calls `f(i)` for each line, on several threads; i is the line's first element. Skips empty
  /// lines.
  template <class F>
  void for_each(F&& f) const {
    if (count == 0) return;
    parallel_for_each(outer * inner, count, 4096,
                      [&](std::int64_t i) { f(i / inner * count * inner + i % inner); });
  }
};

}  // namespace d5::detail
