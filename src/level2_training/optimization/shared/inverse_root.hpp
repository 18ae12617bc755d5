// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::detail {

/// root = (matrix + epsilon I)^(-1/power) of a symmetric positive semidefinite matrix, side x side,
/// by an eigendecomposition in float64; small eigenvalues at the level of rounding count as zero.
/// Throws: NumericError if there is none, as for a matrix with a NaN.
template <class T>
void inverse_root(const T* matrix, T* root, std::int64_t side, double power, double epsilon);

}  // namespace d5::detail
