// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "d5/core/statistics/statistics.hpp"

namespace d5 {

/// The mean of samples with Student's interval, which is right where their distribution is close to
/// normal. No interval for fewer than two; all NaN for none, or if one of them is not finite.
///
/// Source: Student, "The Probable Error of a Mean" (1908).
/// Throws: ValueError if `confidence` is not between 0 and 1.
[[nodiscard]] Estimate mean_with_interval(std::span<const double> samples,
                                          double confidence = 0.95);

/// Of samples in groups, such as those of processes that were started anew, which differ from one
/// another by more than their samples do: the geometric mean of the groups' medians, and Student's
/// interval of the mean of their logarithms, groups less one degrees of freedom. Of one group it is
/// the median of its samples, whose interval knows nothing of other groups.
///
/// Source: Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time" (ISMM 2013): the variance
/// between repetitions of the highest level is that of the mean of all.
[[nodiscard]] Estimate estimate_of_groups(std::span<const std::vector<double>> groups);

/// The mean without the smallest and the largest of at least three samples; NaN for fewer. One
/// infinite sample, such as the time of a run that did not converge, is dropped as the largest.
///
/// Source: Mattson et al., "MLPerf Training Benchmark" (MLSys 2020), section 3.2.2: the mean that
/// scores its repetitions.
[[nodiscard]] double olympic_mean(std::span<const double> samples);

/// One-sided p-value that samples of `a` come from a distribution whose mean is not below that of
/// `b`: small where `a` is surely smaller. The variances may differ. NaN for fewer than two samples
/// on a side. Where neither varies it is what it tends to as both variances go to 0: 0 or 1 where
/// the means differ, 0.5 where they are equal.
///
/// Source: Welch, "The Generalization of Student's Problem when Several Different Population
/// Variances are Involved" (1947).
[[nodiscard]] double is_smaller_p_value(std::span<const double> a, std::span<const double> b);

}  // namespace d5
