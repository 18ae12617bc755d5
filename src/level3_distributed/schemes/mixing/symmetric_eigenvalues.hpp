// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace d5::detail {

/// Eigenvalues of a symmetric matrix, side x side, in ascending order.
[[nodiscard]] std::vector<double> symmetric_eigenvalues(const std::vector<double>& matrix,
                                                        int side);

}  // namespace d5::detail
