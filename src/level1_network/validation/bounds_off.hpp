// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/results/measurement.hpp"

namespace d5 {

/// An error up to this multiple of the bound is doubtful: another order of summing n terms may have
/// sqrt(n) times the error, which the reference's runs do not show; this is for n = 4096.
constexpr double kDoubtfulBounds = 64;

/// Error of a failed answer in multiples of the `RoundingJudge`'s bound; infinity if it has no
/// bound, or is NaN.
[[nodiscard]] double bounds_off(const Measurement& record);

}  // namespace d5
