// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/onnx/model.hpp"

namespace d5 {

/// SHA-256 of a graph without its weights: nodes, their inputs and outputs, attributes, nested
/// graphs. Floating-point initializers count by type and shape, others by value, as they may be
/// shapes.
[[nodiscard]] std::string structure_digest(const onnx::Graph& graph);
/// The same, including the values of all initializers.
[[nodiscard]] std::string content_digest(const onnx::Graph& graph);

}  // namespace d5
