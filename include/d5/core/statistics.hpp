// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace d5 {

/// Closed interval; not a number where too few samples allow none.
struct Interval {
  double low;
  double high;
};

struct Summary {
  std::size_t count = 0;
  double minimum = 0, maximum = 0, mean = 0, median = 0;
  double first_quartile = 0, third_quartile = 0;
  Interval median_interval{0, 0};  ///< at `confidence`
  double confidence = 0.95;        ///< achieved, at least what was asked
};

/// Order statistics of `samples`; no outlier is dropped.
///
/// Source: Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems" (SC'15):
/// nonparametric interval of the median from the binomial distribution of ranks (Le Boudec).
[[nodiscard]] Summary summarise(std::span<const double> samples, double confidence = 0.95);

/// Nonparametric interval of the quantile `q` of `samples`.
[[nodiscard]] Interval quantile_interval(std::span<const double> samples, double q,
                                         double confidence = 0.95);

struct Comparison {
  double ratio = 1;          ///< median of a_i / b_i over interleaved pairs
  Interval ratio_interval{1, 1};
  double p_value = 1;        ///< two-sided Wilcoxon-Mann-Whitney rank test on the samples
  std::size_t pairs = 0;
};

/// Compares `a` with `b`. Samples with the same index were taken beside each other (A B A B).
[[nodiscard]] Comparison compare(std::span<const double> a, std::span<const double> b,
                                 double confidence = 0.95);

}  // namespace d5
