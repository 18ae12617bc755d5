// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// A tensor that a run of a network gave, in memory of its own on the host.
struct Answer {
  std::string tensor;  ///< "output y", "gradient of w"
  Value value;
};

/// Where a run backward begins: at a loss, or at gradients of outputs. Neither: there is none.
struct BackwardBegin {
  std::string loss = {};
  ValueMap output_gradients = {};
  /// What follows the run and leaves the executor as it found it, such as an optimizer's step: it
  /// adds answers of its own.
  std::function<void(GraphExecutor&, const ValueMap& inputs, std::vector<Answer>&)> then = {};
};

/// Runs forward, and backward from `begin`: all outputs, then the gradients of all parameters, the
/// first layer's first, then what `begin.then` adds. Throws: as the executor.
[[nodiscard]] std::vector<Answer> answers_of(GraphExecutor& executor, const ValueMap& inputs,
                                             const BackwardBegin& begin);

/// Null where there is none.
[[nodiscard]] const Value* find(const std::vector<Answer>& answers, std::string_view tensor);

/// Where a run backward begins that has no loss: normal numbers for each output that has a
/// gradient, as the reference's has shape and type. Throws: Unsupported where no output is a float.
[[nodiscard]] ValueMap random_gradients(GraphExecutor& reference, const ValueMap& inputs);

}  // namespace d5
