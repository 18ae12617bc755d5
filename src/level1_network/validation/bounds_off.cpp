// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/bounds_off.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace d5 {

double bounds_off(const Measurement& record) {
  constexpr double kNoNumber = std::numeric_limits<double>::infinity();
  const auto bound = record.conditions.find("bound");
  if (bound == record.conditions.end() || record.samples.empty()) return kNoNumber;
  const double times = record.samples.front() / std::stod(bound->second);
  return std::isfinite(times) ? times : kNoNumber;
}

}  // namespace d5
