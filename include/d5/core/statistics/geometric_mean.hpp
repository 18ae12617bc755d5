// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "d5/core/statistics/statistics.hpp"

namespace d5 {

inline constexpr std::size_t kFewestForMeanInterval = 5;

/// The geometric mean of positive ratios, the one mean that does not depend on which side is the
/// base, with Student's interval of the mean of their logarithms.
///
/// The interval takes the ratios for a sample of cases like them: it tells how far another choice
/// of cases may move the mean, not how well each of these was measured. NaN for fewer than
/// `kFewestForMeanInterval` ratios, which tell nothing of others; all NaN if one of them is not
/// positive and finite, or there is none.
///
/// Source: Fleming and Wallace, "How Not to Lie with Statistics: The Correct Way to Summarize
/// Benchmark Results" (1986); Student, "The Probable Error of a Mean" (1908).
/// Throws: ValueError if `confidence` is not between 0 and 1.
[[nodiscard]] Estimate geometric_mean(std::span<const double> ratios, double confidence = 0.95);

}  // namespace d5
