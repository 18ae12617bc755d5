// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level0_ops/operator/compiled_model.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::torch {

/// A model as one TorchScript graph, frozen and optimized for inference. It is recorded from a run
/// of torch's own executor, so that it makes the same calls. `operators` are torch's.
///
/// Throws: Unsupported for gradients, and for a model that a recorded run cannot represent: shapes
/// or calls depend on values of inputs, or random numbers are drawn.
[[nodiscard]] std::unique_ptr<CompiledModel> script(const onnx::Model& model,
                                                    const ModelTarget& target,
                                                    const OperatorRegistry& operators);

}  // namespace d5::torch
