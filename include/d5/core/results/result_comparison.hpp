// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/results.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// One measurement that two results hold.
struct ResultPair {
  Measurement a, b;
  double ratio = 1;         ///< statistic of b / statistic of a
  Interval interval{1, 1};  ///< of the ratio, at least 95%; NaN where the statistic has none, and
                            ///< the ratio itself of what was counted once
  double p_value = 1;       ///< of the rank test

  /// Not with fewer samples than an interval of the median takes.
  [[nodiscard]] bool has_interval() const;
  /// Whether both are bytes or numbers that were counted once: without noise.
  [[nodiscard]] bool is_counted() const;
};

/// An identity or a setting of which all of a say one thing and all of b another: what the user
/// compares. A setting that one of them does not have at all is none.
struct ResultDifference {
  std::string name;  ///< "level", "framework", or a condition
  std::string a, b;
};
[[nodiscard]] std::vector<ResultDifference> differences(const Results& a, const Results& b);

/// A measurement of `a` without a partner that could be compared, and why.
struct MissingResult {
  Measurement a;
  std::string reason;  ///< "B has no such record", "B is failed: ..."
};

/// The measurements that both hold, in the order of `a`: subject, metric and statistic agree, and
/// so do the level, the framework, identities and settings (`Role`), except for `differences`.
/// Several of one case are paired in their order.
///
/// They were not measured interleaved, so the interval of the ratio is joined from intervals
/// of 97.5% of both statistics (Bonferroni's inequality), and a machine that changed in between is
/// part of it.
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

/// With a verdict for each: better, worse, same (within noise). Below them the geometric mean of
/// each metric of time that several pairs hold, with the interval of `geometric_mean`, and how many
/// are surely faster or slower (`RatioSummary`).
[[nodiscard]] TextTable to_table(const std::vector<ResultPair>& pairs);

}  // namespace d5
