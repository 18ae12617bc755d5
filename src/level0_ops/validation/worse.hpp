// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace d5::detail {

/// The larger of two errors, where NaN is the largest.
[[nodiscard]] inline double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

}  // namespace d5::detail
