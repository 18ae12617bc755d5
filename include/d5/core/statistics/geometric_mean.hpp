// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "d5/core/statistics/statistics.hpp"

namespace d5 {

inline constexpr std::size_t kFewestForMeanInterval = 5;

/// Geometric mean of positive ratios, with Student's interval of the mean of their logarithms. It
/// is the only mean that does not depend on which side is the base.
///
/// The interval regards the cases as a random sample: it shows how another choice of cases may
/// change the mean, not how precisely each case was measured. It is NaN for fewer than
/// `kFewestForMeanInterval` ratios. All is NaN if there are no ratios, or one is not positive and
/// finite.
///
/// Source: Fleming and Wallace, "How Not to Lie with Statistics: The Correct Way to Summarize
/// Benchmark Results" (1986); Student, "The Probable Error of a Mean" (1908).
/// Throws: ValueError if `confidence` is not between 0 and 1.
[[nodiscard]] Estimate geometric_mean(std::span<const double> ratios, double confidence = 0.95);

}  // namespace d5
