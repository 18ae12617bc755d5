// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "d5/core/statistics/statistics.hpp"

namespace d5 {

/// Mean of samples with Student's interval, for approximately normal distributions. No interval for
/// fewer than two samples. All is NaN if there are no samples or one is not finite.
///
/// Source: Student, "The Probable Error of a Mean" (1908).
/// Throws: ValueError if `confidence` is not between 0 and 1.
[[nodiscard]] Estimate mean_with_interval(std::span<const double> samples,
                                          double confidence = 0.95);

/// Two-sided p-value of Student's t-test against the hypothesis that the mean of the distribution
/// is `mean`; below 0.05 if and only if the 95% interval of `mean_with_interval` excludes it. NaN
/// for fewer than two samples or one that is not finite. If no sample varies, it is the limit: 1 if
/// they equal `mean`, else 0.
///
/// Source: Student, "The Probable Error of a Mean" (1908).
[[nodiscard]] double differs_p_value(std::span<const double> samples, double mean);

/// Estimate from samples in groups that differ more between each other than within, such as
/// restarted processes: the geometric mean of the groups' medians, with Student's interval of the
/// mean of their logarithms (number of groups - 1 degrees of freedom). For a single group: its
/// median, with an interval that ignores variation between groups.
///
/// Source: Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time" (ISMM 2013): the variance
/// between repetitions of the highest level is the variance of the overall mean.
[[nodiscard]] Estimate estimate_of_groups(std::span<const std::vector<double>> groups);

/// The mean without the smallest and the largest of at least three samples; NaN for fewer. One
/// infinite sample, such as the time of a run that did not converge, is dropped as the largest.
///
/// Source: Mattson et al., "MLPerf Training Benchmark" (MLSys 2020), section 3.2.2: the mean over
/// its repetitions.
[[nodiscard]] double olympic_mean(std::span<const double> samples);

/// One-sided p-value of Welch's t-test against the hypothesis that the mean of `a` is not below
/// that of `b`: small if `a` is significantly smaller. The variances may differ. NaN for fewer than
/// two samples on a side. If neither side varies, it is the limit for vanishing variances: 0 or 1
/// if the means differ, 0.5 if they are equal.
///
/// Source: Welch, "The Generalization of Student's Problem when Several Different Population
/// Variances are Involved" (1947).
[[nodiscard]] double is_smaller_p_value(std::span<const double> a, std::span<const double> b);

}  // namespace d5
