// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {

/// The oldest opset with the same definition of the node, which more frameworks support than the
/// newest. Graphs of a node keep the node's opset.
[[nodiscard]] int oldest_opset(const onnx::Node& node);

/// A model of one node. Inputs of the node that determine shapes are constants.
struct NodeModel {
  onnx::Model model;
  std::vector<std::size_t> inputs,
      outputs;  ///< the node's indices of the model's inputs and outputs
};

[[nodiscard]] NodeModel node_model(const PlanContext& context);

}  // namespace d5::detail
