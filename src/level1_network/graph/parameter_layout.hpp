// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/tensor/arena.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Whether tensors of this type can be trained.
[[nodiscard]] bool may_be_trained(DType dtype);

struct ParameterLayout {
  std::vector<Parameter> parameters;
  Arena values, gradients;
};
/// Layout of the initializers `names` in two arenas, with their sizes in bytes. The order is that
/// in which backpropagation finishes the gradients: a gradient is final when its first reader has
/// run backward.
[[nodiscard]] ParameterLayout lay_out_parameters(
    const onnx::Graph& graph, const std::vector<std::string>& names,
    const std::function<Arena(std::size_t bytes)>& make_arena);
/// Copies the initializers into the arena.
void copy_values(const onnx::Graph& graph, std::vector<Parameter>& parameters);

/// The arena as one vector of the parameters' type. Throws: TypeError if they differ in type.
[[nodiscard]] Tensor as_vector(const Arena& arena, const std::vector<Parameter>& parameters);

}  // namespace d5
