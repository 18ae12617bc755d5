// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/onnx/model.hpp"

namespace d5 {

/// SHA-256 of what a graph computes apart from its weights: nodes, what they read and write,
/// attributes, graphs in them; of initializers that are real numbers type and shape, of others the
/// values, which may be shapes.
[[nodiscard]] std::string structure_digest(const onnx::Graph& graph);
/// The same with the values of all initializers.
[[nodiscard]] std::string content_digest(const onnx::Graph& graph);

}  // namespace d5
