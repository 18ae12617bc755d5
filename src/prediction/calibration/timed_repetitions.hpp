// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

inline constexpr int kWarmUp = 3;

/// Throws: ValueError for a size that is not a multiple of 4.
void expect_floats(std::int64_t bytes);
/// Throws: ValueError for a single rank or no repetition.
void expect_partners(const Communicator& ranks, int repetitions);
/// The median on the slowest rank, returned on each.
[[nodiscard]] double slowest_median(Communicator& ranks, const std::vector<double>& seconds);
/// The number of repetitions for a measurement that took `once` seconds: at most `repetitions`, and
/// about a fifth of a second in total, but at least five. The same on every rank.
[[nodiscard]] int affordable(Communicator& ranks, double once, int repetitions);

/// Results of `once` for each of `count` items, such as sizes, `repetitions` times each if
/// `affordable`. Items are interleaved, so that a busy moment of the machine does not affect only
/// one of them. Every rank makes the same calls.
template <class Once>
std::vector<std::vector<double>> in_turns(Communicator& ranks, std::size_t count, int repetitions,
                                          const Once& once) {
  constexpr int kTurns = 5;
  std::vector<int> wanted(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (int each = 1; each < kWarmUp; ++each) (void)once(i);
    const double begin = now_seconds();  // timed: one complete repetition
    (void)once(i);
    wanted[i] = affordable(ranks, now_seconds() - begin, repetitions);
  }
  std::vector<std::vector<double>> results(count);
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; i < count; ++i) {
      const int until = wanted[i] * (turn + 1) / kTurns;
      if (std::ssize(results[i]) == until) continue;
      (void)once(i);  // warms the caches, which other items have used
      while (std::ssize(results[i]) < until) results[i].push_back(once(i));
    }
  }
  return results;
}

}  // namespace d5::detail
