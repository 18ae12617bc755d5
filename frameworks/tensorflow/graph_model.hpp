// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level0_ops/operator/compiled_model.hpp"
#include "translators.hpp"

namespace d5::tensorflow {

/// Compiles `model` into one TensorFlow graph, run by a session; gradients are those that
/// TensorFlow adds to the graph. Throws: Unsupported, with the first node that has no translator or
/// has dynamic shapes.
[[nodiscard]] std::unique_ptr<CompiledModel> compile_graph(const onnx::Model& model,
                                                           const ModelTarget& target,
                                                           const Translators& translators);

}  // namespace d5::tensorflow
