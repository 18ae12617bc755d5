// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Tensors of the Constant nodes of a graph that hold a single tensor, by the names of their
/// outputs.
[[nodiscard]] std::map<std::string, Tensor, std::less<>> constants_of(const onnx::Graph& graph);

/// Weights in the graphs that `node` holds, nested ones included: initializers and Constants that a
/// node there can be differentiated by. They are not parameters of a network.
[[nodiscard]] std::vector<Tensor> held_weights(const onnx::Node& node);

/// Moves these weights to the initializers of `graph`, from which the nested graphs capture them,
/// if gradients pass their nodes; scalars and outputs of a graph stay. Returns their new names,
/// which get a number if taken. `wanted` selects among the names that a call without it returns.
std::vector<std::string> hoist_weights(onnx::Graph& graph,
                                       const std::vector<bool>* wanted = nullptr);

}  // namespace d5
