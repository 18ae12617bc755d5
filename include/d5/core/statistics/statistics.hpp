// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "d5/core/numbers/quantity.hpp"

namespace d5 {

/// Which number stands for samples.
struct Statistic {
  enum class Of {
    quantile,  ///< the median among them
    mean,
    maximum,
    rate,    ///< harmonic mean of rates: all work over all time, if samples are of equal work
    share,   ///< mean of samples that are 0 or 1: how many of them are 1
    last,    ///< of a curve
    best,    ///< of a curve; which is better, its direction says
    single,  ///< the only sample: something counted or timed once
  };
  Of of = Of::quantile;
  double quantile = 0.5;  ///< from 0 to 1, of `Of::quantile` alone
  bool operator==(const Statistic&) const = default;
};

/// "median", "p99", "p99.9", "mean", "maximum", "rate", "share", "last", "best", "single".
[[nodiscard]] std::string to_string(const Statistic& statistic);
/// The statistic of that name; nothing for another word.
[[nodiscard]] std::optional<Statistic> statistic_from(std::string_view name);

/// Closed interval; both ends are NaN where too few samples allow none.
struct Interval {
  double low;
  double high;
};

/// All NaN but `count` for no samples, or if one of them is NaN.
struct Summary {
  std::size_t count = 0;
  double minimum = 0, maximum = 0, mean = 0, median = 0;
  double first_quartile = 0, third_quartile = 0;  ///< linear between the order statistics
  Interval median_interval{0, 0};  ///< at `confidence`; six samples are the fewest for 95%
  double confidence = 0.95;        ///< achieved: at least what was asked, since ranks are whole
};

/// Order statistics of `samples`; no outlier is dropped.
///
/// Source: Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems" (SC'15):
/// nonparametric interval of the median from the binomial distribution of ranks (Le Boudec).
/// Throws: ValueError if `confidence` is not between 0 and 1.
[[nodiscard]] Summary summarise(std::span<const double> samples, double confidence = 0.95);

/// Nonparametric interval of the quantile `q` of `samples`.
/// Throws: ValueError if `q` or `confidence` is not between 0 and 1.
[[nodiscard]] Interval quantile_interval(std::span<const double> samples, double q,
                                         double confidence = 0.95);

/// A statistic of samples, with how sure it is.
struct Estimate {
  double value;
  Interval interval;  ///< NaN for statistics that have none, and for too few samples
  double confidence;  ///< achieved; NaN without an interval
};

/// Quantiles have the nonparametric interval of `quantile_interval`, shares the exact one of
/// Clopper and Pearson, the others none. All NaN for no samples, or if one of them is NaN (except
/// `last` and `single`, which look at one sample).
///
/// Source: Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case
/// of the Binomial" (1934). Throws: ValueError if a quantile or `confidence` is not between 0
/// and 1.
[[nodiscard]] Estimate estimate(std::span<const double> samples, const Statistic& statistic = {},
                                Direction direction = Direction::lower_is_better,
                                double confidence = 0.95);

/// Two-sided p-value of the Wilcoxon-Mann-Whitney test: how likely samples that differ as much in
/// rank would be if `a` and `b` came from one distribution. Exact for up to 20 samples a side
/// without ties; above that the normal approximation, corrected for ties and for continuity.
///
/// Source: Mann and Whitney, "On a Test of Whether one of Two Random Variables is Stochastically
/// Larger than the Other" (1947).
[[nodiscard]] double rank_test(std::span<const double> a, std::span<const double> b);

struct Comparison {
  double ratio = 1;  ///< median of a_i / b_i over interleaved pairs
  Interval ratio_interval{1, 1};
  double p_value = 1;  ///< of `rank_test`
  std::size_t pairs = 0;
};

/// Compares `a` with `b`. Samples with the same index were taken beside each other (A B A B).
/// Throws: ValueError if they are not of one number.
[[nodiscard]] Comparison compare(std::span<const double> a, std::span<const double> b,
                                 double confidence = 0.95);

}  // namespace d5
