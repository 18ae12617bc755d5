// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Role of a constant tensor in the node that reads it.
enum class ParameterPlace {
  none,
  term,   ///< a bias or scale where it is one at all: of Add, Mul, Sum, Concat
  scale,  ///< scale of a normalization; 1 if the module has none
  shift,  ///< shift of a normalization; 0 if the module has none
  weight  ///< surely a parameter: a matrix, a kernel, a layer's bias
};

/// Role of input `i`, by the operator's meaning. Inputs of custom operators are weights.
[[nodiscard]] ParameterPlace parameter_place(const onnx::Node& node, std::size_t i,
                                             const Tensor& value);

/// Whether the operator is linear in one of its weights: a bias may follow it.
[[nodiscard]] bool takes_a_bias(const onnx::Node& node);

/// Whether all elements of a real tensor equal `number`; false for an empty tensor.
[[nodiscard]] bool is_filled_with(const Tensor& value, double number);
/// Whether an element is low enough to mask others when it is added.
[[nodiscard]] bool is_mask(const Tensor& value);

}  // namespace d5
