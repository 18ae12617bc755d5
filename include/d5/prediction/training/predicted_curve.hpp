// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"

namespace d5 {

/// A scaling curve, and what tells it from others that stand beside it.
struct PredictedCurve {
  std::string model, framework, device;
  std::string network;
  std::string strategy;  ///< what is done otherwise, in words; empty: nothing
  std::vector<PredictedPoint> points;
};

/// A row a number of ranks of each curve, for who buys machines.
[[nodiscard]] TextTable prediction_table(const std::vector<PredictedCurve>& curves);
/// Throughput over ranks: predictions with their bands, what was measured, the closed formulas, and
/// perfect scaling from the first curve's fewest ranks.
[[nodiscard]] Plot prediction_plot(const std::vector<PredictedCurve>& curves);
/// A record each of "predicted_time", "baseline_time", and where it was measured "time",
/// "prediction_error" (predicted over measured, less one) and "baseline_error". Conditions: ranks,
/// batch, network, strategy, alpha, efficiency, bound_by, and the prediction's interval.
[[nodiscard]] std::vector<Measurement> prediction_records(
    const std::vector<PredictedCurve>& curves);

}  // namespace d5
