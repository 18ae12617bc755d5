// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {

/// A training step of `optimizer` as a network without parameters: tensors that the step changes
/// are constants, hyper-parameters are inputs without an initializer. Values are copies.
/// Throws: as `StepGraph`.
[[nodiscard]] Network step_network(Optimizer& optimizer);

/// A network without parameters: `updates` overwrite initializers of `model`.
[[nodiscard]] Network network_of_constants(onnx::Model model,
                                           const std::map<std::string, std::string>& updates);

}  // namespace d5::detail
