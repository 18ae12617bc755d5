// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bindings.hpp"
#include "d5/level0_ops/operator/compiled_model.hpp"

namespace d5::python {

/// The callable that the Python function `compile` makes of a whole model in the framework of that
/// name. `compile` is called with a d5.ModelPlan. Its result is called with a list of inputs and
/// returns the outputs, followed by the gradients. Throws: what Python raises, as d5's error;
/// TypeError if the result is not callable; as ModelWalk.
[[nodiscard]] std::unique_ptr<CompiledModel> compile_model(const std::string& framework,
                                                           const PythonReference& compile,
                                                           const onnx::Model& model,
                                                           const ModelTarget& target);

}  // namespace d5::python
