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
  double base_throughput = 0;  ///< NaN where the base was not measured
  /// Over the base: 1.172. The interval holds whatever the two throughputs may have been; NaN
  /// where one is not known.
  Estimate gain{};
  bool differs = false;  ///< from the base: the interval lies above 1
  /// Other settings that may be as fast: their intervals meet the best's.
  std::vector<std::string> rivals = {};
};

/// One of each model and batch size, in the grid's order. Of equals the first is the best.
[[nodiscard]] std::vector<BestSetting> best_settings(const OverlapGrid& grid);

/// What it costs to have one setting for all models and batch sizes.
struct SingleSetting {
  std::string setting;
  double mean_loss = 0;       ///< 1 - geometric mean of its throughput over the best of each row
  double worst_loss = 0;      ///< in the row where it is furthest behind
  std::string worst = {};     ///< that row: "AlexNet 64"
  std::size_t rows = 0;       ///< in which it was measured
  std::size_t best_rows = 0;  ///< in which none is faster
};

/// One of each setting, from the smallest mean loss on; settings that were measured in fewer rows
/// than another come after all that were measured in more.
[[nodiscard]] std::vector<SingleSetting> single_settings(const OverlapGrid& grid);

/// The same for people.
[[nodiscard]] TextTable best_settings_table(const OverlapGrid& grid);
[[nodiscard]] TextTable single_settings_table(const OverlapGrid& grid);

}  // namespace d5
