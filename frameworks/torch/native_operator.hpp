// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::torch {

/// Any function that torch's dispatcher knows as an operator: "aten::silu" is the node `silu` of
/// domain "aten". The node's inputs are the tensors among the function's arguments, in order, its
/// attributes the other arguments, by name; what is left out has torch's default. `overload` names
/// one of several functions of a name; left out, it is the first that fits.
///
/// Shapes and types come from the function itself, on torch's meta device, or where torch has none
/// for it there, tried out; gradients from autograd.
/// Empty if torch has no function of that name.
[[nodiscard]] OperatorRegistry::Make find_native_operator(const onnx::Node& node);

}  // namespace d5::torch
