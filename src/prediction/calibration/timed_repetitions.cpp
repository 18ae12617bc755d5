// SPDX-License-Identifier: Apache-2.0
#include "prediction/calibration/timed_repetitions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"

namespace d5::detail {

void expect_floats(std::int64_t bytes) {
  if (bytes < 4 || bytes % 4 != 0) {
    throw ValueError(
        fmt::format("calibration: a message of {} bytes; expected a multiple of 4", bytes));
  }
}

void expect_partners(const Communicator& ranks, int repetitions) {
  if (ranks.size() < 2) {
    throw ValueError("calibration: it needs two ranks or more; start it by mpirun -np 2");
  }
  if (repetitions < 1) {
    throw ValueError(fmt::format("calibration: {} repetitions; expected 1 or more", repetitions));
  }
}

double slowest_median(Communicator& ranks, const std::vector<double>& seconds) {
  return largest_of_ranks(ranks, seconds.empty() ? 0 : summarise(seconds).median);
}

int affordable(Communicator& ranks, double once, int repetitions) {
  constexpr double kMostSeconds = 0.2;
  constexpr int kFewest = 5;
  const double slowest = slowest_median(ranks, {once});
  if (!(slowest * repetitions > kMostSeconds)) return repetitions;
  return std::min(repetitions, std::max(kFewest, static_cast<int>(kMostSeconds / slowest)));
}

}  // namespace d5::detail
