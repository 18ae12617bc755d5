// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/ratio_summary.hpp"
#include "d5/core/results/results.hpp"

namespace d5::detail {

/// A record with the number that stands for it in files.
struct WrittenRecord {
  Measurement record;
  std::string statistic;
  Estimate estimate;
};
[[nodiscard]] inline WrittenRecord written(const Measurement& record) {
  return {record, to_string(record.statistic), estimate(record)};
}
/// No reader takes it for a measurement: it follows from those that are there.
[[nodiscard]] inline WrittenRecord written(const SummedRatios& ratios) {
  return {ratios.record, "geometric_mean", ratios.summary.mean};
}

/// What stands behind the lines of the measurements.
[[nodiscard]] std::string summary_to_csv(const Results& results);
[[nodiscard]] std::string summary_to_jsonl(const Results& results);

}  // namespace d5::detail
