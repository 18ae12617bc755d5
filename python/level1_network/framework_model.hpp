// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bindings.hpp"
#include "d5/level0_ops/operator/compiled_model.hpp"

namespace d5::python {

/// What `compile`, Python's, makes of a whole model in the framework of that name: called with a
/// d5.ModelPlan, it returns something to call with a list of inputs, which gives the outputs, and
/// behind them the gradients. Throws: what Python raises, as d5's error; TypeError for what cannot
/// be called; as ModelWalk.
[[nodiscard]] std::unique_ptr<CompiledModel> compile_model(const std::string& framework,
                                                           const PythonReference& compile,
                                                           const onnx::Model& model,
                                                           const ModelTarget& target);

}  // namespace d5::python
