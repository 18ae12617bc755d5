// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// How far a tensor of floats is from the expected one: norms of the difference over all elements.
/// What is NaN in both, or the same infinity, does not differ; NaN against a number makes all norms
/// NaN, and a distance that is infinite.
struct ErrorNorms {
  double l1 = 0, l2 = 0, l_infinity = 0;
  /// The same over the norm of what was expected; 0 over 0 is 0.
  double relative_l1 = 0, relative_l2 = 0, relative_l_infinity = 0;
  /// The largest distance in units in the last place: how many numbers of the type lie between.
  double ulp = 0;
  std::vector<std::int64_t> place =
      {};  ///< index of the largest difference; empty if there is none
};

/// Shapes: the same. Throws: ShapeError; TypeError for other types, or what is no float.
[[nodiscard]] ErrorNorms error_norms(const Tensor& got, const Tensor& expected);

/// Element by element, in float64, with the same rule: what `heatmap` draws.
/// Shapes: the same. Throws: ShapeError; TypeError for other types, or none of `NumberTypes`.
[[nodiscard]] Tensor absolute_difference(const Tensor& got, const Tensor& expected);

/// A record of the quantity "error" for each: "l1_error", "l2_error", "max_error" with the
/// condition "at" ("0,3,1"), "relative_l1_error", "relative_l2_error", "ulp_error". `like` says
/// what was compared; its own metric, "error", is the largest, relative to the largest number.
[[nodiscard]] std::vector<Measurement> norm_records(const ErrorNorms& norms,
                                                    const Measurement& like);

}  // namespace d5
