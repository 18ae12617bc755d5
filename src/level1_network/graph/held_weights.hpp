// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5 {

/// What the Constant nodes of a graph give that hold one tensor, by the names of their outputs.
[[nodiscard]] std::map<std::string, Tensor, std::less<>> constants_of(const onnx::Graph& graph);

/// The weights in the graphs that `node` holds, and in those of their nodes: initializers and
/// Constants that a node there can be differentiated by. They are no parameters of a network.
[[nodiscard]] std::vector<Tensor> held_weights(const onnx::Node& node);

/// Brings them among the initializers of `graph`, from which the graphs of its nodes capture them,
/// where gradients pass these nodes: all but single numbers and what a graph gives out. Returns
/// their names there; one that is taken is followed by a number. With `wanted`, only those whose
/// place in what a call without it returns holds true.
std::vector<std::string> hoist_weights(onnx::Graph& graph,
                                       const std::vector<bool>* wanted = nullptr);

}  // namespace d5
