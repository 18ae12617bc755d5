// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/prediction/predict_options.hpp"
#include "d5/prediction/traces/execution_trace.hpp"
#include "d5/prediction/training/predicted_curve.hpp"

namespace d5::app {

/// Predicts an execution trace on each cluster, as it is and with each strategy. Prints what was
/// imported, and writes `--graph` and `--trace`. Throws: ValueError for options that train or
/// simulate.
[[nodiscard]] std::vector<PredictedCurve> predict_trace(const PredictOptions& options);

/// Writes an execution trace (.et), or as `write_operation_graph`.
void write_graph(const ChakraTrace& trace, const std::string& path);

}  // namespace d5::app
