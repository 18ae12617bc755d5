// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace d5::detail {

/// Corners of a rectangle, the second behind the first.
struct CornerBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  [[nodiscard]] double area() const {
    return std::max(0.0, right - left) * std::max(0.0, bottom - top);
  }
};

/// Intersection over union; 0 if neither rectangle has an area.
[[nodiscard]] inline double intersection_over_union(const CornerBox& a, const CornerBox& b) {
  const CornerBox both{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
                       std::min(a.bottom, b.bottom)};
  const double either = a.area() + b.area() - both.area();
  return either > 0 ? both.area() / either : 0;
}

}  // namespace d5::detail
