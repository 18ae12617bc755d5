// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/shared/milestones.hpp"

#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

std::vector<std::int64_t> milestones(const std::string& name, const std::vector<double>& times) {
  constexpr double kMost = 1e15;  // up to here every integer is a double
  std::vector<std::int64_t> result;
  for (const double time : times) {
    if (time != std::floor(time) || time > kMost) {
      throw ValueError(
          fmt::format("schedule {}: time {} is no whole number up to {}", name, time, kMost));
    }
    if (!result.empty() && double(result.back()) >= time) {
      throw ValueError(fmt::format("schedule {}: time {} follows {}; expected ascending times",
                                   name, time, result.back()));
    }
    result.push_back(std::int64_t(time));
  }
  return result;
}

}  // namespace d5::detail
