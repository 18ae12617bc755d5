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

/// Names of the quantities that cells are chosen by: "accuracy", "p50", "p90", "p99" (s),
/// "throughput" (samples/s), "cold_start" (s), and, with a price per hour, "cost" of a million
/// predictions.
[[nodiscard]] std::vector<std::string> choice_numbers();

/// One of these quantities of a cell; nullopt if it was not measured. Throws: NotFound for another
/// name.
[[nodiscard]] std::optional<Estimate> choice_number(const EvaluationCell& cell,
                                                    const std::string& number,
                                                    double price_per_hour);
/// The unit: seconds, samples/s, 1; of money "", as its currency is that of its price.
[[nodiscard]] std::string unit_of_choice(const std::string& number);
/// The currency of a cell's cost: that of a given price, or else of the records' price.
[[nodiscard]] std::string currency_of(const EvaluationCell& cell, double price_per_hour,
                                      const std::string& currency);

/// A limit of a quantity.
struct Requirement {
  std::string number;
  bool at_least = true;  ///< or at most
  double limit = 0;
};
/// Parses ">=0.75", "<= 50ms", ">= 75%", ">=1e3". Throws: ValueError.
[[nodiscard]] Requirement requirement_of(const std::string& number, const std::string& words);

struct ChoiceOptions {
  std::vector<Requirement> requirements = {};
  std::string objective = "cost";
  enum class Wish { minimise, maximise } wish = Wish::minimise;
  double price_per_hour = 0;     ///< 0: that of the condition "price_per_hour", if there is one
  std::string currency = "USD";  ///< currency of `price_per_hour`, by ISO 4217
};

/// A cell, and whether it meets the limits.
struct Candidate {
  EvaluationCell cell;
  std::string name;
  std::optional<Estimate> objective = {};
  std::string why_not = {};  ///< limits that it misses; empty: none
  std::string doubt = {};    ///< a limit that its interval crosses
};

/// Sorts the candidates: those that meet the limits first, from the best on. Failed and mistrusted
/// cells do not meet them. Throws: NotFound for an unknown quantity.
[[nodiscard]] std::vector<Candidate> choose(std::span<const EvaluationCell> cells,
                                            const ChoiceOptions& options);
[[nodiscard]] TextTable choice_table(std::span<const Candidate> candidates,
                                     const ChoiceOptions& options);

}  // namespace d5
