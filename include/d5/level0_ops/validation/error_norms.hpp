// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// Error of a floating-point tensor: norms of its difference from the expected one. NaN in both,
/// and the same infinity in both, count as equal. NaN against a number makes all norms NaN, and an
/// infinite distance.
struct ErrorNorms {
  double l1 = 0, l2 = 0, l_infinity = 0;
  /// The norms divided by the norm of the expected tensor; 0 / 0 is 0.
  double relative_l1 = 0, relative_l2 = 0, relative_l_infinity = 0;
  /// The largest distance in units in the last place: the number of steps between neighbouring
  /// floats.
  double ulp = 0;
  /// Index of the largest difference; empty if there is none.
  std::vector<std::int64_t> place = {};
};

/// Shapes: equal. Throws: ShapeError; TypeError if the types differ or are not floating-point.
[[nodiscard]] ErrorNorms error_norms(const Tensor& got, const Tensor& expected);

/// The absolute difference of each element in float64, with the same rules for NaN and infinity.
/// Input of `heatmap`.
/// Shapes: equal. Throws: ShapeError; TypeError if the types differ or are not in `NumberTypes`.
[[nodiscard]] Tensor absolute_difference(const Tensor& got, const Tensor& expected);

/// One record of the quantity "error" per norm: "l1_error", "l2_error", "max_error" with the
/// condition "at" ("0,3,1"), "relative_l1_error", "relative_l2_error", "ulp_error". `like` is the
/// template of the records; its own metric, "error", is the largest error relative to the largest
/// number.
[[nodiscard]] std::vector<Measurement> norm_records(const ErrorNorms& norms,
                                                    const Measurement& like);

}  // namespace d5
