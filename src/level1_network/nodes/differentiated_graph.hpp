// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Whether the node is a Gradient of ai.onnx.preview.training.
[[nodiscard]] bool is_gradient(const onnx::Node& node);

/// The graph that a Gradient node differentiates: the nodes of `around` before it that compute its
/// `y` from its `xs` and `zs`. Their other inputs are captured.
/// Throws: NotFound if no node computes `y`.
[[nodiscard]] std::shared_ptr<const onnx::Graph> differentiated_graph(const onnx::Node& gradient,
                                                                      const onnx::Graph& around);

}  // namespace d5
