// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

inline int ranks_of(const Measurement& record) {
  return int(condition_number(record, "ranks").value_or(1));
}

/// The first record of a metric; null if there is none, or it has no sample.
inline const Measurement* find(const std::vector<Measurement>& records, const std::string& metric) {
  for (const Measurement& record : records) {
    if (record.metric == metric) return record.samples.empty() ? nullptr : &record;
  }
  return nullptr;
}

}  // namespace d5::detail
