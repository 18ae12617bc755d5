// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "d5/core/numbers/quantity.hpp"

namespace d5 {

/// The statistic that summarises samples.
struct Statistic {
  enum class Of {
    quantile,  ///< such as the median
    mean,
    maximum,
    rate,    ///< harmonic mean of rates: total work over total time, for samples of equal work
    share,   ///< proportion: mean of samples that are 0 or 1
    last,    ///< last value of a curve
    best,    ///< best value of a curve, by the metric's direction
    single,  ///< the only sample, such as a count or a single time
  };
  Of of = Of::quantile;
  double quantile = 0.5;  ///< from 0 to 1, for `Of::quantile` only
  bool operator==(const Statistic&) const = default;
};

/// "median", "p99", "p99.9", "mean", "maximum", "rate", "share", "last", "best", "single".
[[nodiscard]] std::string to_string(const Statistic& statistic);
/// The statistic of that name; nothing for another word.
[[nodiscard]] std::optional<Statistic> statistic_from(std::string_view name);

/// Closed interval; both ends are NaN if there are too few samples.
struct Interval {
  double low;
  double high;
};

/// Order statistics of samples. All except `count` are NaN if there are no samples or one is NaN.
struct Summary {
  std::size_t count = 0;
  double minimum = 0, maximum = 0, mean = 0, median = 0;
  double first_quartile = 0,
         third_quartile = 0;       ///< linearly interpolated between order statistics
  Interval median_interval{0, 0};  ///< at `confidence`; 95% needs six samples
  double confidence = 0.95;  ///< achieved; at least the requested one, because ranks are integers
};

/// Computes the summary of `samples`, without dropping outliers.
///
/// Source: Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems" (SC'15):
/// nonparametric interval of the median from the binomial distribution of ranks (Le Boudec).
/// Throws: ValueError if `confidence` is not between 0 and 1.
[[nodiscard]] Summary summarise(std::span<const double> samples, double confidence = 0.95);

/// Nonparametric interval of the quantile `q` of `samples`.
/// Throws: ValueError if `q` or `confidence` is not between 0 and 1.
[[nodiscard]] Interval quantile_interval(std::span<const double> samples, double q,
                                         double confidence = 0.95);

/// The value of a statistic, with its confidence interval.
struct Estimate {
  double value;
  Interval interval;  ///< NaN if the statistic has none, or for too few samples
  double confidence;  ///< achieved; NaN without an interval
};

/// Estimates a statistic. Quantiles have the nonparametric interval of `quantile_interval`, shares
/// the exact one of Clopper and Pearson, other statistics none. All is NaN if there are no samples
/// or one is NaN; `last` and `single` consider only their sample.
///
/// Source: Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case
/// of the Binomial" (1934). Throws: ValueError if a quantile or `confidence` is not between 0
/// and 1.
[[nodiscard]] Estimate estimate(std::span<const double> samples, const Statistic& statistic = {},
                                Direction direction = Direction::lower_is_better,
                                double confidence = 0.95);

/// Two-sided p-value of the Wilcoxon-Mann-Whitney test: the probability of rank differences at
/// least as large if `a` and `b` have the same distribution. Exact for up to 20 samples per side
/// without ties; otherwise the normal approximation, corrected for ties and continuity.
///
/// Source: Mann and Whitney, "On a Test of Whether one of Two Random Variables is Stochastically
/// Larger than the Other" (1947).
[[nodiscard]] double rank_test(std::span<const double> a, std::span<const double> b);

struct Comparison {
  double ratio = 1;  ///< median of a_i / b_i over interleaved pairs
  Interval ratio_interval{1, 1};
  double p_value = 1;  ///< p-value of `rank_test`
  std::size_t pairs = 0;
};

/// Compares `a` with `b`. Samples with the same index must be interleaved (A B A B). Throws:
/// ValueError if their numbers differ.
[[nodiscard]] Comparison compare(std::span<const double> a, std::span<const double> b,
                                 double confidence = 0.95);

}  // namespace d5
