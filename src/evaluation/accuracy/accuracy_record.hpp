// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// What records of all measures have in common; statistic and samples are their own.
[[nodiscard]] inline Measurement accuracy_record(const std::string& metric) {
  Measurement record;
  record.metric = metric;
  record.unit = "1";
  record.quantity = Quantity::accuracy;
  record.direction = Direction::higher_is_better;
  return record;
}

}  // namespace d5::detail
