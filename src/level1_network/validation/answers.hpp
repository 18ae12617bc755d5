// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// A tensor from a run of a network, copied to the host.
struct Answer {
  std::string tensor;  ///< "output y", "gradient of w"
  Value value;
};

/// Start of backward: a loss, or gradients of outputs. Without either there is no backward.
struct BackwardBegin {
  std::string loss = {};
  ValueMap output_gradients = {};
  /// Called after the run, such as an optimizer's step: adds further answers, and leaves the
  /// executor as it was.
  std::function<void(GraphExecutor&, const ValueMap& inputs, std::vector<Answer>&)> then = {};
};

/// Runs forward, and backward from `begin`. Returns all outputs, then the gradients of all
/// parameters, starting with the first layer, then those of `begin.then`. Throws: as the executor.
[[nodiscard]] std::vector<Answer> answers_of(GraphExecutor& executor, const ValueMap& inputs,
                                             const BackwardBegin& begin);

/// Null if it is missing.
[[nodiscard]] const Value* find(const std::vector<Answer>& answers, std::string_view tensor);

/// Gradients to start backward without a loss: normal numbers for each output with a gradient, in
/// type and shape of the reference's outputs. Throws: Unsupported if no output is floating-point.
[[nodiscard]] ValueMap random_gradients(GraphExecutor& reference, const ValueMap& inputs);

}  // namespace d5
