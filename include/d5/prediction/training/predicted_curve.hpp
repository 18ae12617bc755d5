// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"

namespace d5 {

/// A scaling curve with its labels.
struct PredictedCurve {
  std::string model, framework, device;
  std::string cluster;
  std::string strategy = {};  ///< applied strategies; empty: none
  std::vector<PredictedPoint> points = {};
  std::string left_out = {};  ///< numbers of ranks that a budget left out, and why; empty: none
};

/// One row for each curve and number of ranks.
[[nodiscard]] TextTable prediction_table(const std::vector<PredictedCurve>& curves);
/// The table in `format`. For people the reasons of mistrusted rows stand below it, by number, and
/// what budgets left out.
/// `width`: as for `TextTable::to_text`.
[[nodiscard]] std::string prediction_text(const std::vector<PredictedCurve>& curves, Format format,
                                          int width = 0);
/// Throughput over ranks: predictions with error bands, measurements, closed formulas, and perfect
/// scaling from the first curve's fewest ranks.
[[nodiscard]] Plot prediction_plot(const std::vector<PredictedCurve>& curves);
/// Records "predicted_time" and "baseline_time" for each point, and if it was measured "time",
/// "prediction_error" (predicted / measured - 1) and "baseline_error". With an overlap map also
/// "contended_time" and "contended_error". Conditions: ranks, batch, network, strategy, alpha,
/// efficiency, bound_by, and the prediction's interval; of "contended_time" the share of the
/// computation that the map lacks.
[[nodiscard]] std::vector<Measurement> prediction_records(
    const std::vector<PredictedCurve>& curves);

}  // namespace d5
