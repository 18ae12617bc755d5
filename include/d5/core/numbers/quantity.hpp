// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace d5 {

/// Kind of a measured number.
enum class Quantity {
  time,      ///< s
  energy,    ///< J
  bytes,     ///< memory, or communication volume
  rate,      ///< work per second
  count,     ///< page faults, calls
  share,     ///< fraction of a whole, from 0 to 1
  ratio,     ///< quotient of two numbers of the same kind
  loss,      ///< objective that training minimises
  accuracy,  ///< share of correct answers
  error,     ///< distance from the correct value
  other
};

enum class Direction { lower_is_better, higher_is_better, neither };

/// Reduction of a metric over ranks.
enum class OverRanks {
  maximum,  ///< the slowest rank's: for times
  sum,
  mean,
  apart  ///< one record per rank, with the condition "rank"
};

[[nodiscard]] std::string_view name_of(Quantity quantity);
[[nodiscard]] std::string_view name_of(Direction direction);
[[nodiscard]] std::string_view name_of(OverRanks over_ranks);

}  // namespace d5
