// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5::fuzz {

/// The outputs of a node or a network, or its refusal.
struct Outcome {
  std::vector<Value> outputs = {};
  bool random = false;  ///< it draws random numbers, which differ from run to run
  std::string error = {};
  /// Refused for what this framework lacks, or for the memory that it takes: another may do it.
  bool beyond = false;
  std::string unstable = {};  ///< how the second run differed from the first
};

/// The result of `run`, with an error that it throws as an outcome. Throws: ContractError, and
/// anything that is no d5::Error.
[[nodiscard]] Outcome outcome_of(const std::function<Outcome()>& run);
/// `run` twice; it returns the outputs.
[[nodiscard]] Outcome twice(const std::vector<onnx::Node>& nodes,
                            const std::function<std::vector<Value>()>& run);
/// Two runs of `executor` on what is fed; the outputs in the network's order.
[[nodiscard]] Outcome twice(GraphExecutor& executor, const ValueMap& fed);

/// The executor of the framework's own: that of its name, else its first. Throws: Unsupported where
/// it has none.
[[nodiscard]] std::shared_ptr<GraphExecutor> own_executor(const std::string& framework,
                                                          Network network);
/// Those that D5_FUZZ_FRAMEWORKS names, "onednn,torch", or torch, onednn and onnxruntime
/// where they are there; loaded.
[[nodiscard]] const std::vector<std::string>& frameworks_under_test();

/// How `got` contradicts `expected`, or empty: one is refused, or outputs differ by more than
/// rounding, integers by more than `tolerance`. `who` gave it.
[[nodiscard]] std::string difference(const Outcome& expected, const Outcome& got,
                                     const std::string& who, double tolerance = 0);

}  // namespace d5::fuzz
