// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::detail {

/// root = (matrix + epsilon I)^(-1/power) of a symmetric matrix without negative eigenvalues, side
/// x side, by its eigenvectors in float64; what rounding makes of small eigenvalues counts as zero.
/// Throws: NumericError for one that has no eigenvectors, such as one with a NaN.
template <class T>
void inverse_root(const T* matrix, T* root, std::int64_t side, double power, double epsilon);

}  // namespace d5::detail
