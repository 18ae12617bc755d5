// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/results/measurement.hpp"

namespace d5 {

/// An answer that is up to so many bounds off is doubtful: another order of a sum of n terms may
/// have the root of n times the error, which runs of the reference do not show; this is of 4096.
constexpr double kDoubtfulBounds = 64;

/// Error of a failed answer in multiples of the `RoundingJudge`'s bound; infinity if it has no
/// bound, or is NaN.
[[nodiscard]] double bounds_off(const Measurement& record);

}  // namespace d5
