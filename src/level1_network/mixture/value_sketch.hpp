// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "d5/core/tensor/value.hpp"

namespace d5 {

/// A summary of a tensor in a few numbers, which tells whether another tensor is close.
///
/// Source: Alon, Matias and Szegedy, "The Space Complexity of Approximating the Frequency Moments"
/// (1996): the mean square of projections on random signs estimates a vector's.
struct ValueSketch {
  std::array<double, 16> projections = {};
  double root_mean_square = 0;
  bool finite = true;     ///< no element is infinite or NaN
  bool is_short = false;  ///< 16 bits or fewer: rounding errors add up sooner
};

/// Sketches a floating-point, row-major tensor on the host; empty for other values.
[[nodiscard]] std::optional<ValueSketch> sketch(const Value* value);
[[nodiscard]] std::optional<ValueSketch> sketch(const Tensor& tensor);

/// Whether the difference is too large for rounding: more than a tenth of the larger value (half of
/// it for short types), and more than `least`.
/// Units: root mean square of the elements.
[[nodiscard]] bool differ_grossly(const ValueSketch& a, const ValueSketch& b, double least = 0);

}  // namespace d5
