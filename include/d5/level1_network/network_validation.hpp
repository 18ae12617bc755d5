// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/measurement.hpp"
#include "d5/level0_ops/operator_validation.hpp"
#include "d5/level1_network/graph_executor.hpp"

namespace d5 {

/// Feeds both executors the same and compares every output. One record an output.
[[nodiscard]] std::vector<Measurement> test_executor(GraphExecutor& subject,
                                                     GraphExecutor& reference,
                                                     const ValueMap& inputs,
                                                     ForwardTolerance tolerance = {});
/// Besides the outputs, every parameter's gradient.
[[nodiscard]] std::vector<Measurement> test_executor_backprop(GraphExecutor& subject,
                                                              GraphExecutor& reference,
                                                              const ValueMap& inputs,
                                                              std::string_view loss,
                                                              ForwardTolerance tolerance = {});
/// Runs an ONNX test folder's data sets and compares with its expected outputs.
[[nodiscard]] std::vector<Measurement> test_folder(const std::string& path,
                                                   const ExecutorOptions& options,
                                                   ForwardTolerance tolerance = {});

}  // namespace d5
