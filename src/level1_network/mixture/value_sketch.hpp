// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "d5/core/tensor/value.hpp"

namespace d5 {

/// So much of a tensor as tells whether another one is near it, in a few numbers.
///
/// Source: Alon, Matias and Szegedy, "The Space Complexity of Approximating the Frequency Moments"
/// (1996): the mean square of projections on random signs estimates a vector's.
struct ValueSketch {
  std::array<double, 16> projections = {};
  double root_mean_square = 0;
  bool finite = true;     ///< no element is infinite or NaN
  bool is_short = false;  ///< of a type of 16 bits or fewer, whose roundings add up sooner
};

/// Of floating-point tensors on the host, row-major; nothing of any other value.
[[nodiscard]] std::optional<ValueSketch> sketch(const Value* value);
[[nodiscard]] std::optional<ValueSketch> sketch(const Tensor& tensor);

/// Whether the difference is no rounding: a tenth of the larger (of short types half of it), and
/// larger than `least`.
/// Units: root mean square of the elements.
[[nodiscard]] bool differ_grossly(const ValueSketch& a, const ValueSketch& b, double least = 0);

}  // namespace d5
