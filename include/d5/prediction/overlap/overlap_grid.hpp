// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/statistics/statistics.hpp"

namespace d5 {

/// How fast one model trained at one batch size under one setting of communication.
struct OverlapCell {
  std::string model;
  std::int64_t batch = 0;
  std::string setting;            ///< "2x256", "threads=1 buckets=25MiB"
  double throughput = 0;          ///< samples/s
  Interval interval{kNan, kNan};  ///< of the throughput; NaN: not known
  /// Throughput over that of the base, where the two were measured beside each other.
  std::optional<Estimate> gain = {};

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
};

/// Models and batch sizes, each under several settings.
struct OverlapGrid {
  std::string base;  ///< the setting that others are held against
  std::vector<OverlapCell> cells = {};
};

/// Rows "model,batch,SETTING,...", each cell a throughput; an empty one was not measured, and one
/// of whole numbers lies within half a unit of what was printed. A column that ends in "_percent"
/// is none of the settings, and is left out. `file` is for messages.
///
/// Throws: FormatError with file and line; NotFound if no column is `base`.
[[nodiscard]] OverlapGrid overlap_grid_from_csv(const std::string& text, const std::string& file,
                                                const std::string& base = "2x256");

}  // namespace d5
