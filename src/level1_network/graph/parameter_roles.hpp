// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "onnx/tensor_origins.hpp"

namespace d5 {

/// Initializers of a loaded graph that may become parameters: of a type that may be trained, and
/// read by an input that the reference's operator can differentiate (or by an operator it does not
/// have).
[[nodiscard]] std::vector<std::string> trainable_initializers(const onnx::Graph& graph);

/// What the tensors of a file are to training.
struct ParameterRoles {
  std::vector<std::string> trained;  ///< initializers
  ParameterNotes notes;
};
/// Decides it, and brings weights that Constant nodes or graphs within nodes hold among the
/// graph's initializers.
///
/// A Constant is a weight where it stands, itself or behind nodes that read constants alone, in the
/// place of a weight or bias (Conv, Gemm, MatMul, recurrent layers, normalization, PRelu, Gather's
/// table). A file whose weights are all Constants also has biases and scales in Add, Mul, Sum and
/// Concat: tensors of several elements that are no mask. PyTorch writes parameters as initializers,
/// and Constants for the numbers of its code.
///
/// Of initializers stay constant: what `origins` calls a buffer or a number, and the ones and
/// zeros of an InstanceNormalization between two Reshapes, which stand for a GroupNormalization.
[[nodiscard]] ParameterRoles assign_roles(onnx::Graph& graph, const std::string& producer,
                                          const onnx::TensorOrigins& origins);

}  // namespace d5
