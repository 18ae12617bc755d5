// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace d5::detail {

/// A function along a line, at one place of it.
struct LinePoint {
  double t = 0, value = 0, slope = 0;
  std::vector<double> gradient = {};  // in all dimensions
};

struct LineSearch {
  double decrease = 1e-4;     ///< c1: value <= value(0) + c1 * t * slope(0)
  double curvature = 0.9;     ///< c2: |slope| <= c2 * |slope(0)|
  double least_width = 1e-9;  ///< of a bracket, below which it ends
  int most = 25;              ///< steps
};

/// A point beside `start`, whose slope is negative, that meets the strong Wolfe conditions, or the
/// best that was found. Begins at `first`. A value that is not a number counts as infinite.
///
/// Source: Nocedal and Wright, "Numerical Optimization" (2nd ed.), algorithms 3.5 and 3.6; how far
/// it goes on and how near it comes to a bracket's ends as LibTorch's LBFGS does.
[[nodiscard]] LinePoint search_line(const std::function<LinePoint(double t)>& at,
                                    const LinePoint& start, double first, const LineSearch& how);

}  // namespace d5::detail
