// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/evaluation/accuracy/sample_answer.hpp"

namespace d5 {

/// Two runs over one data set, compared sample by sample: equal accuracies may hide different
/// answers. A score of 0.5 or more counts as right.
struct AnswerComparison {
  /// A sample that one run has right and the other wrong.
  struct Flip {
    std::int64_t sample = 0;
    std::string a, b;  ///< answers
    double score_a = 0, score_b = 0;
  };
  std::int64_t samples = 0;  ///< samples answered by both
  /// Samples by the runs that answer right.
  std::int64_t both = 0, only_a = 0, only_b = 0, neither = 0;
  std::int64_t same_answers = 0;  ///< identical answers
  std::int64_t not_in_both = 0;   ///< samples answered by one run only
  /// Probability of flips at least as uneven if each favoured a or b with equal chance: exact,
  /// two-sided.
  double p_value = 1;
  /// Sorted by sample. If the answers are in a database, `flips` holds only the first ones;
  /// `only_a` and `only_b` count all.
  std::vector<Flip> flips = {};

  /// Samples in `flips` that only one run has right.
  [[nodiscard]] std::vector<std::int64_t> right_in_a_alone() const;
  [[nodiscard]] std::vector<std::int64_t> right_in_b_alone() const;
};

/// Source: McNemar, "Note on the Sampling Error of the Difference Between Correlated Proportions or
/// Percentages" (1947), with the exact binomial test in place of the approximation.
/// Throws: ValueError for a sample that is answered twice.
[[nodiscard]] AnswerComparison compare_answers(std::span<const SampleAnswer> a,
                                               std::span<const SampleAnswer> b);

/// A row: numbers of samples right in both, in neither and in one run only, and which these are.
struct NamedAnswerComparison {
  std::string name;
  AnswerComparison comparison;
};
[[nodiscard]] TextTable to_table(std::span<const NamedAnswerComparison> comparisons);

}  // namespace d5
