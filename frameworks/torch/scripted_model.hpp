// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level0_ops/operator/compiled_model.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::torch {

/// A model as one TorchScript graph, frozen and optimized for inference. It is recorded while
/// torch's own executor runs the model, so that it calls what that one calls. `operators` are
/// torch's.
///
/// Throws: Unsupported for gradients, and for a model that no recorded run can stand for: values of
/// what was fed decide a shape or which function is called, or numbers are drawn.
[[nodiscard]] std::unique_ptr<CompiledModel> script(const onnx::Model& model,
                                                    const ModelTarget& target,
                                                    const OperatorRegistry& operators);

}  // namespace d5::torch
