// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/ratio_summary.hpp"
#include "d5/core/results/results.hpp"

namespace d5::detail {

/// A record with its statistic in files.
struct WrittenRecord {
  Measurement record;
  std::string statistic;
  Estimate estimate;
};
[[nodiscard]] inline WrittenRecord written(const Measurement& record) {
  return {record, to_string(record.statistic), estimate(record)};
}
/// Derived from other records, so readers do not treat it as a measurement.
[[nodiscard]] inline WrittenRecord written(const SummedRatios& ratios) {
  return {ratios.record, "geometric_mean", ratios.summary.mean};
}

/// The lines after those of the measurements.
[[nodiscard]] std::string summary_to_csv(const Results& results);
[[nodiscard]] std::string summary_to_jsonl(const Results& results);

}  // namespace d5::detail
