// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "d5/level1_network/graph_executor.hpp"

namespace d5 {

/// A tensor that a run of a network gave, in memory of its own on the host.
struct Answer {
  std::string tensor;  ///< "output y", "gradient of w"
  Value value;
};

/// Runs forward, and backward from `loss` unless it is empty: all outputs, then the gradients of
/// all parameters, the first layer's first. Throws: as the executor.
[[nodiscard]] std::vector<Answer> answers_of(GraphExecutor& executor, const ValueMap& inputs,
                                             std::string_view loss);

/// Null where there is none.
[[nodiscard]] const Value* find(const std::vector<Answer>& answers, std::string_view tensor);

}  // namespace d5
