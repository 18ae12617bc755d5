// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {

/// The oldest opset that gives the node this meaning: a framework knows it sooner than the newest.
/// Graphs that a node holds are of the node's own.
[[nodiscard]] int oldest_opset(const onnx::Node& node);

/// A model of one node. Inputs of the node that decide shapes are constants of it.
struct NodeModel {
  onnx::Model model;
  std::vector<std::size_t> inputs, outputs;  ///< which of the node's are the model's, in its order
};

[[nodiscard]] NodeModel node_model(const PlanContext& context);

}  // namespace d5::detail
