// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/evaluation/analysis/evaluation_cell.hpp"

namespace d5 {

/// Numbers that cells are chosen by: "accuracy", "p50", "p90", "p99" (s), "throughput" (samples a
/// second), "cold_start" (s), and where a price an hour is known "cost", of a million predictions.
[[nodiscard]] std::vector<std::string> choice_numbers();

/// One of them of a cell; nothing where it was not measured. Throws: NotFound for another word.
[[nodiscard]] std::optional<Estimate> choice_number(const EvaluationCell& cell,
                                                    const std::string& number,
                                                    double price_per_hour);
/// Seconds, samples a second, 1.
[[nodiscard]] std::string unit_of_choice(const std::string& number);

/// What one of the numbers must be.
struct Requirement {
  std::string number;
  bool at_least = true;  ///< or at most
  double limit = 0;
};
/// From ">=0.75", "<= 50ms", ">= 75%", ">=1e3". Throws: ValueError.
[[nodiscard]] Requirement requirement_of(const std::string& number, const std::string& words);

struct ChoiceOptions {
  std::vector<Requirement> requirements = {};
  std::string objective = "cost";
  enum class Wish { minimise, maximise } wish = Wish::minimise;
  double price_per_hour = 0;  ///< 0: that of the condition "price_per_hour", where there is one
};

/// A cell, and whether it will do.
struct Candidate {
  EvaluationCell cell;
  std::string name;
  std::optional<Estimate> objective = {};
  std::string why_not = {};  ///< what it misses; empty: it will do
  std::string doubt = {};    ///< a requirement that its interval reaches across
};

/// Those that will do first, the best in front, then the others. What failed, or is mistrusted,
/// will not do. Throws: NotFound for a number that is none.
[[nodiscard]] std::vector<Candidate> choose(std::span<const EvaluationCell> cells,
                                            const ChoiceOptions& options);
[[nodiscard]] TextTable choice_table(std::span<const Candidate> candidates,
                                     const ChoiceOptions& options);

}  // namespace d5
