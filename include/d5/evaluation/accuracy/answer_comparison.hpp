// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/evaluation/accuracy/sample_answer.hpp"

namespace d5 {

/// Two runs over one data set, sample by sample: an accuracy that is equal may hide answers that
/// are not. Right is a score of 0.5 or more.
struct AnswerComparison {
  /// A sample that one run has right and the other wrong.
  struct Flip {
    std::int64_t sample = 0;
    std::string a, b;  ///< answers
    double score_a = 0, score_b = 0;
  };
  std::int64_t samples = 0;                                    ///< that both answered
  std::int64_t both = 0, only_a = 0, only_b = 0, neither = 0;  ///< right
  std::int64_t same_answers = 0;                               ///< to the letter
  std::int64_t not_in_both = 0;                                ///< samples that one alone answered
  /// How likely flips would be as uneven if each were a's or b's with equal chance: exact,
  /// two-sided.
  double p_value = 1;
  /// By sample; of answers in a database the first ones alone, where `only_a` or `only_b` are more.
  std::vector<Flip> flips = {};

  /// Samples that one alone has right, of those in `flips`.
  [[nodiscard]] std::vector<std::int64_t> right_in_a_alone() const;
  [[nodiscard]] std::vector<std::int64_t> right_in_b_alone() const;
};

/// Source: McNemar, "Note on the Sampling Error of the Difference Between Correlated Proportions or
/// Percentages" (1947), with the exact binomial test in place of the approximation.
/// Throws: ValueError for a sample that is answered twice.
[[nodiscard]] AnswerComparison compare_answers(std::span<const SampleAnswer> a,
                                               std::span<const SampleAnswer> b);

/// A row: how many are right in both, in none, in one alone, and which these are.
struct NamedAnswerComparison {
  std::string name;
  AnswerComparison comparison;
};
[[nodiscard]] TextTable to_table(std::span<const NamedAnswerComparison> comparisons);

}  // namespace d5
