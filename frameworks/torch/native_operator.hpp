// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::torch {

/// Makes an operator of any function in torch's dispatcher: "aten::silu" is the node `silu` of
/// domain "aten". Inputs of the node are the tensors among the function's arguments, in order;
/// attributes are the other arguments, by name; missing ones have torch's defaults. `overload`
/// selects one of several functions of a name; by default it is the first that fits.
///
/// Shapes and types come from the function on torch's meta device, or if it has none there, from
/// trial calls; gradients come from autograd. Empty if torch has no function of that name.
[[nodiscard]] OperatorRegistry::Make find_native_operator(const onnx::Node& node);

}  // namespace d5::torch
