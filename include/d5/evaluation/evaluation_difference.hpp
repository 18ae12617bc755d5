// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "d5/core/text_table.hpp"
#include "d5/evaluation/analysis.hpp"
#include "d5/evaluation/sample_answer.hpp"

namespace d5 {

/// A node that two runs hold, and what it adds to their difference.
struct LayerDifference {
  std::string name, type;
  double a = 0, b = 0;      ///< s, of one run of the model; 0: the run has no such node
  double share_of_all = 0;  ///< (b - a) over the difference of all nodes together
  bool is_sure = false;     ///< the intervals do not meet
};

/// By node, the one that differs most first. Frameworks may differ: that is what is compared. Empty
/// where a run tells no nodes (`d5 net bench --profile`, or a trace).
[[nodiscard]] std::vector<LayerDifference> layer_differences(const AnalysedRun& a,
                                                             const AnalysedRun& b);
/// The first `most`, and below them all together.
[[nodiscard]] TextTable to_table(std::span<const LayerDifference> differences, std::size_t most);

/// Two runs' answers to the same samples.
struct AnswerDifference {
  std::int64_t both_right = 0, both_wrong = 0;
  std::vector<std::int64_t> only_a, only_b;  ///< samples that one alone has right
  std::int64_t not_in_both = 0;
  /// How likely flips that lean so far to one side are, if neither is better: McNemar's test, exact
  /// (binomial). Source: McNemar, "Note on the sampling error of the difference between correlated
  /// proportions or percentages" (1947).
  double p_value = 1;
};
/// Right is a score of 0.5 or more. Throws: ValueError for a sample that is answered twice.
[[nodiscard]] AnswerDifference answer_difference(std::span<const SampleAnswer> a,
                                                 std::span<const SampleAnswer> b);
/// A row: what was answered, how many are right in both, in none, in one alone, and which these
/// are.
struct NamedAnswerDifference {
  std::string name;
  AnswerDifference difference;
};
[[nodiscard]] TextTable to_table(std::span<const NamedAnswerDifference> differences);

}  // namespace d5
