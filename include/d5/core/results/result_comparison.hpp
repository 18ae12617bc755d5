// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/results.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// A measurement that both results contain.
struct ResultPair {
  Measurement a, b;
  double ratio = 1;         ///< statistic of b / statistic of a
  Interval interval{1, 1};  ///< interval of the ratio, at least 95%; NaN if the statistic has none;
                            ///< the ratio itself for single counts
  double p_value = 1;       ///< p-value of the rank test

  /// False if either side has too few samples for an interval of the median.
  [[nodiscard]] bool has_interval() const;
  /// Whether both are bytes or counts with a single sample, and thus free of noise.
  [[nodiscard]] bool is_counted() const;
};

/// An identity or setting with one value in all records of a and another in all of b: the compared
/// variable. A setting that is absent from one of them is not a difference.
struct ResultDifference {
  std::string name;  ///< "level", "framework", or a condition
  std::string a, b;
};
[[nodiscard]] std::vector<ResultDifference> differences(const Results& a, const Results& b);

/// A measurement of `a` without a comparable partner in `b`, and the reason.
struct MissingResult {
  Measurement a;
  std::string reason;  ///< "B has no such record", "B is failed: ..."
};

/// The measurements that two results have in common, in the order of `a`. Partners agree in
/// subject, metric, statistic, level, framework, identities and settings (`Role`), except for
/// `differences`. Repeated measurements of a case are paired in their order.
///
/// Partners were not measured interleaved: the interval of the ratio combines the 97.5% intervals
/// of both statistics (Bonferroni's inequality), and includes changes of the machine in between.
struct ResultMatch {
  std::vector<ResultPair> pairs;
  std::vector<MissingResult> missing;
};
[[nodiscard]] ResultMatch match_results(const Results& a, const Results& b);
[[nodiscard]] inline std::vector<ResultPair> compare_results(const Results& a, const Results& b) {
  return match_results(a, b).pairs;
}
[[nodiscard]] inline std::vector<MissingResult> missing_results(const Results& a,
                                                                const Results& b) {
  return match_results(a, b).missing;
}

/// A table of pairs, each with a verdict: better, worse, same (within noise). For each time metric
/// of several pairs, the last rows hold the geometric mean with its interval (`geometric_mean`),
/// and how many are significantly faster or slower (`RatioSummary`).
[[nodiscard]] TextTable to_table(const std::vector<ResultPair>& pairs);

}  // namespace d5
