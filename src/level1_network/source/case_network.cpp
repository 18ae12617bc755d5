// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "level0_ops/operator/node_model.hpp"
#include "onnx/tensor_type.hpp"

namespace d5 {

Network case_network(const OperatorCase& problem) {
  onnx::Node node = problem.node;
  node.opset = detail::oldest_opset(node);
  onnx::Model model = Network(node.op_type).model();
  model.opset_imports[node.domain] = node.opset;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.has_input(i)) continue;
    if (!problem.inputs[i].is_tensor()) {
      throw Unsupported(
          fmt::format("'{}' as a network: input {} is no tensor", printable(problem.line), i));
    }
    const Tensor& tensor = problem.inputs[i].tensor();
    if (model.graph.inputs.empty()) {
      model.graph.inputs.push_back({node.inputs[i], tensor_type(tensor.desc())});
    } else {
      model.graph.initializers[node.inputs[i]] = tensor;
    }
  }
  for (const std::string& output : node.outputs) model.graph.outputs.push_back({output, {}});
  model.graph.nodes.push_back(std::move(node));
  return Network(std::move(model));
}

}  // namespace d5
