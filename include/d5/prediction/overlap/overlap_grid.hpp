// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/statistics/statistics.hpp"

namespace d5 {

/// Training throughput of one model at one batch size with one communication setting.
struct OverlapCell {
  std::string model;
  std::int64_t batch = 0;
  std::string setting;            ///< "2x256", "threads=1 buckets=25MiB"
  double throughput = 0;          ///< samples/s
  Interval interval{kNan, kNan};  ///< interval of the throughput; NaN: unknown
  /// Throughput relative to the base, if the two were measured in pairs.
  std::optional<Estimate> gain = {};

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
};

/// Models and batch sizes, each with several settings.
struct OverlapGrid {
  std::string base;  ///< the setting to compare with
  std::vector<OverlapCell> cells = {};
};

/// Reads rows "model,batch,SETTING,...". Each cell is a throughput; an empty cell was not measured,
/// and a cell printed as a whole number has an interval of half a unit on each side. Columns that
/// end in "_percent" are ignored. `file` is the name for messages.
///
/// Throws: FormatError with file and line; NotFound if no column is `base`.
[[nodiscard]] OverlapGrid overlap_grid_from_csv(const std::string& text, const std::string& file,
                                                const std::string& base = "2x256");

}  // namespace d5
