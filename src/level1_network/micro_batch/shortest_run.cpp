// SPDX-License-Identifier: Apache-2.0
#include "level1_network/micro_batch/shortest_run.hpp"

#include <algorithm>
#include <limits>

#include "d5/core/clocks/clock.hpp"

namespace d5 {

double shortest_seconds(const std::function<void()>& run) {
  constexpr int kMostRuns = 5;
  constexpr double kMostSeconds = 0.05;
  run();
  double shortest = std::numeric_limits<double>::infinity();
  const double deadline = now_seconds() + kMostSeconds;
  for (int i = 0; i < kMostRuns && (i == 0 || now_seconds() < deadline); ++i) {
    const double begin = now_seconds();
    run();
    shortest = std::min(shortest, now_seconds() - begin);
  }
  return shortest;
}

}  // namespace d5
