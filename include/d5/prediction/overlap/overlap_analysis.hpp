// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/prediction/overlap/overlap_grid.hpp"

namespace d5 {

/// The fastest setting of a model at a batch size.
struct BestSetting {
  std::string model;
  std::int64_t batch = 0;
  std::string setting;
  double throughput = 0;
  double base_throughput = 0;  ///< NaN if the base was not measured
  /// Ratio to the base: 1.172. The interval covers all values of the two throughputs within their
  /// intervals; NaN if one is unknown.
  Estimate gain{};
  bool differs = false;  ///< whether it differs from the base: the interval lies above 1
  /// Other settings that may be as fast: their intervals overlap the best's.
  std::vector<std::string> rivals = {};
};

/// The best setting for each model and batch size, in the grid's order; the first among equals.
[[nodiscard]] std::vector<BestSetting> best_settings(const OverlapGrid& grid);

/// The loss from using one setting for all models and batch sizes.
struct SingleSetting {
  std::string setting;
  double mean_loss = 0;   ///< 1 - geometric mean of its throughput relative to the best of each row
  double worst_loss = 0;  ///< loss in its worst row
  std::string worst = {};     ///< name of that row: "AlexNet 64"
  std::size_t rows = 0;       ///< number of rows in which it was measured
  std::size_t best_rows = 0;  ///< number of rows in which no setting is faster
};

/// All settings, sorted by number of rows in which they were measured (descending), then by mean
/// loss (ascending).
[[nodiscard]] std::vector<SingleSetting> single_settings(const OverlapGrid& grid);

/// Tables of both.
[[nodiscard]] TextTable best_settings_table(const OverlapGrid& grid);
[[nodiscard]] TextTable single_settings_table(const OverlapGrid& grid);

}  // namespace d5
