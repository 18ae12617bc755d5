// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Whether the node is a Gradient of ai.onnx.preview.training.
[[nodiscard]] bool is_gradient(const onnx::Node& node);

/// The graph that such a node differentiates: of `around`, in which it stands, the nodes before it
/// that make its `y` out of its `xs` and `zs`. What these read besides is captured.
/// Throws: NotFound if none makes `y`.
[[nodiscard]] std::shared_ptr<const onnx::Graph> differentiated_graph(const onnx::Node& gradient,
                                                                      const onnx::Graph& around);

}  // namespace d5
