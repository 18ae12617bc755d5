// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/clock.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5::detail {

inline constexpr int kWarmUp = 3;

/// Throws: ValueError for a size that is no multiple of 4.
[[nodiscard]] Tensor floats_of(std::int64_t bytes);
/// Throws: ValueError for a rank alone, no repetition.
void expect_partners(const Communicator& ranks, int repetitions);
/// The median on the slowest rank, the same on each.
[[nodiscard]] double slowest_median(Communicator& ranks, const std::vector<double>& seconds);
/// How often it is to be done again, after it took so long once: at most `repetitions` times, and
/// so often that a size takes half a second, or five times. The same on every rank.
[[nodiscard]] int affordable(Communicator& ranks, double once, int repetitions);

/// The median of the slowest rank's times of `work`, which all ranks begin at once.
template <class Work>
double slowest_of_repetitions(Communicator& ranks, int repetitions, const Work& work) {
  const auto once = [&] {
    ranks.barrier();
    const double begin = now_seconds();
    work();
    return now_seconds() - begin;
  };
  for (int i = 1; i < kWarmUp; ++i) (void)once();
  const int count = affordable(ranks, once(), repetitions);
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) seconds.push_back(once());
  return slowest_median(ranks, seconds);
}

}  // namespace d5::detail
