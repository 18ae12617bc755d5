// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/bounds_off.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace d5 {

double bounds_off(const Measurement& record) {
  constexpr double kNoNumber = std::numeric_limits<double>::infinity();
  const auto bound = condition_number(record, "bound");
  if (!bound || record.samples.empty()) return kNoNumber;
  const double times = record.samples.front() / *bound;
  return std::isfinite(times) ? times : kNoNumber;
}

}  // namespace d5
