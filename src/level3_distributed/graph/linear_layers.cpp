// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/linear_layers.hpp"

#include <algorithm>

namespace d5::detail {

bool is_standard(const onnx::Node& node, std::string_view op_type) {
  return node.domain.empty() && node.op_type == op_type;
}

bool LinearLayers::is_output(const std::string& tensor) const {
  return std::ranges::find(network_.graph().outputs, tensor, &onnx::ValueInfo::name) !=
         network_.graph().outputs.end();
}

bool LinearLayers::has_one_reader(const std::string& tensor) const {
  return network_.consumers(tensor).size() == 1 && !is_output(tensor);
}

bool LinearLayers::is_unread(const std::string& tensor) const {
  return network_.consumers(tensor).empty() && !is_output(tensor);
}

std::optional<Linear> LinearLayers::linear(const onnx::Node& node) const {
  const bool is_gemm = is_standard(node, "Gemm");
  if (!is_gemm && !is_standard(node, "MatMul")) return {};
  if (!is_own_parameter(node.inputs[1])) return {};
  const Shape& shape = network_.fetch(node.inputs[1]).shape();
  if (shape.rank() != 2) return {};
  Linear result{.weight = node.inputs[1], .bias = {}};
  if (is_gemm) {
    if (attribute_or<std::int64_t>(node, "transA", 0) != 0) return {};
    if (attribute_or<std::int64_t>(node, "transB", 0) != 0) result.in = 1;
    if (node.inputs.size() > 2) result.bias = node.inputs[2];
  }
  result.units_in = shape[result.in];
  result.units_out = shape[1 - result.in];
  if (!result.bias.empty()) {
    const bool adds = attribute_or<float>(node, "beta", 1) == 1;
    if (!adds || !is_row(result.bias, result.units_out)) return {};
  }
  return result;
}

bool LinearLayers::is_row(const std::string& name, std::int64_t units) const {
  if (!is_own_parameter(name)) return false;
  const Shape& shape = network_.fetch(name).shape();
  return shape.rank() > 0 && shape[shape.rank() - 1] == units &&
         network_.fetch(name).elements() == units;
}

CutParameter LinearLayers::row_cut(const std::string& name) const {
  return {name, network_.fetch(name).shape().rank() - 1};
}

void LinearLayers::cut_columns(const Linear& layer, TensorPair& pair) const {
  pair.cuts.push_back({layer.weight, 1 - layer.in});
  if (!layer.bias.empty()) pair.cuts.push_back(row_cut(layer.bias));
}

const onnx::Node* LinearLayers::source(const std::string& tensor, std::string_view op_type) const {
  const bool is_known = network_.graph().initializers.contains(tensor);
  const onnx::Node* node =
      is_known || !has_one_reader(tensor) ? nullptr : network_.producer(tensor);
  return node && is_standard(*node, op_type) ? node : nullptr;
}

bool LinearLayers::is_scalar(const std::string& name) const {
  return network_.graph().initializers.contains(name) && !network_.is_parameter(name) &&
         network_.fetch(name).elements() == 1;
}

}  // namespace d5::detail
