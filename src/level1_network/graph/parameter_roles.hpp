// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "onnx/tensor_origins.hpp"

namespace d5 {

/// Initializers of a loaded graph that may become parameters: of a trainable type, and read by an
/// input that the reference's operator can differentiate (or by an unknown operator).
[[nodiscard]] std::vector<std::string> trainable_initializers(const onnx::Graph& graph);

/// Roles of a file's tensors in training.
struct ParameterRoles {
  std::vector<std::string> trained;  ///< initializers
  ParameterNotes notes;
};
/// Assigns the roles, and moves weights from Constant nodes or nested graphs to the graph's
/// initializers.
///
/// A Constant is a weight if it is used in the place of a weight or bias, directly or through nodes
/// that read only constants (Conv, Gemm, MatMul, recurrent layers, normalization, PRelu, Gather's
/// table). In a file whose weights are all Constants, tensors in Add, Mul, Sum and Concat are
/// biases and scales too, if they have several elements and are not masks. (PyTorch writes
/// parameters as initializers, and Constants for the numbers of its code.)
///
/// Some initializers stay constant: those that `origins` calls a buffer or a number, and the ones
/// and zeros of an InstanceNormalization between two Reshapes, which stands for a
/// GroupNormalization.
[[nodiscard]] ParameterRoles assign_roles(onnx::Graph& graph, const std::string& producer,
                                          const onnx::TensorOrigins& origins);

}  // namespace d5
