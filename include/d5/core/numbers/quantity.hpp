// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace d5 {

/// What kind of thing a number tells.
enum class Quantity {
  time,      ///< s
  energy,    ///< J
  bytes,     ///< memory, or what went over a wire
  rate,      ///< work a second
  count,     ///< page faults, calls
  share,     ///< of a whole, from 0 to 1
  ratio,     ///< of two numbers of one kind
  loss,      ///< what training minimises
  accuracy,  ///< share of answers that are right
  error,     ///< distance from what is right
  other
};

enum class Direction { lower_is_better, higher_is_better, neither };

/// How the records of all ranks become one.
enum class OverRanks {
  maximum,  ///< the slowest rank is the run's: times
  sum,
  mean,
  apart  ///< a record a rank, with the condition "rank"
};

[[nodiscard]] std::string_view name_of(Quantity quantity);
[[nodiscard]] std::string_view name_of(Direction direction);
[[nodiscard]] std::string_view name_of(OverRanks over_ranks);

}  // namespace d5
