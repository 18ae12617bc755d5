// SPDX-License-Identifier: Apache-2.0
#include "quantization_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/visitor.hpp"

namespace d5::openvino {
namespace {

namespace nodes = onnx::nodes;

/// Operators that OpenVINO fuses into the quantization between Concat and QuantizeLinear.
constexpr std::array<std::string_view, 4> kBefore = {"Clip", "Dropout", "Identity", "Relu"};
/// Operators that pass integers unchanged on their way to a Conv.
constexpr std::array<std::string_view, 19> kBehind = {
    "AveragePool", "Concat", "DepthToSpace", "DequantizeLinear", "Dropout",  "Flatten", "Identity",
    "MaxPool",     "Neg",    "Pad",          "QuantizeLinear",   "Relu",     "Reshape", "Resize",
    "Slice",       "Split",  "Squeeze",      "Transpose",        "Unsqueeze"};

bool is_one_of(std::span<const std::string_view> operators, const onnx::Node& node) {
  return std::ranges::find(operators, node.op_type) != operators.end();
}

class Search {
 public:
  explicit Search(const onnx::Graph& graph) : graph_(graph) {
    for (const onnx::Node& node : graph.nodes) {
      for (const auto& output : node.outputs) writers_[output] = &node;
      for (const auto& input : node.inputs) readers_[input].push_back(&node);
    }
  }

  void look() {
    for (const onnx::Node& node : graph_.nodes) {
      if (node.op_type == "QuantizeLinear") look_at(node);
      for (const auto& [name, held] : onnx::subgraphs(node)) Search(*held).look();
    }
  }

 private:
  void look_at(const onnx::Node& quantize) {
    const DType dtype = type_of(quantize);
    if (dtype == DType::int16 || dtype == DType::uint16) {
      const auto& readers = readers_[quantize.outputs.front()];
      if (std::ranges::find(readers, "DequantizeLinear", &onnx::Node::op_type) == readers.end())
        return;
      refuse(quantize, "16 bits that a DequantizeLinear gives back: it leaves both out");
    }
    if (dtype != DType::int8 || !is_of_concat(quantize)) return;
    if (const onnx::Node* conv = quantized_conv_behind(quantize)) {
      refuse(quantize,
             fmt::format("int8 of a Concat behind which {} has quantized weights: it takes "
                         "the integers for others",
                         onnx::describe(*conv)));
    }
  }

  [[noreturn]] static void refuse(const onnx::Node& node, std::string_view what) {
    throw Unsupported(fmt::format("{}: OpenVINO does not support {}", onnx::describe(node), what));
  }

  [[nodiscard]] const onnx::Node* writer(const std::string& name) const {
    const auto found = writers_.find(name);
    return found == writers_.end() ? nullptr : found->second;
  }

  /// Type of the output; undefined if it follows from types outside this graph.
  [[nodiscard]] DType type_of(const onnx::Node& quantize) const {
    if (const auto* told = quantize.attribute<std::int64_t>("output_dtype"); told && *told != 0)
      return DType(*told);
    if (!quantize.has_input(nodes::QuantizeLinear::In::y_zero_point)) return DType::uint8;
    const auto& zero = quantize.inputs[nodes::QuantizeLinear::In::y_zero_point];
    const auto known = graph_.initializers.find(zero);
    if (known != graph_.initializers.end()) return known->second.dtype();
    const onnx::Node* constant = writer(zero);
    const Tensor* value = constant ? constant->attribute<Tensor>("value") : nullptr;
    return value ? value->dtype() : DType::undefined;
  }

  [[nodiscard]] bool is_of_concat(const onnx::Node& quantize) const {
    const onnx::Node* before = writer(quantize.inputs.front());
    while (before && is_one_of(kBefore, *before)) before = writer(before->inputs.front());
    return before && before->op_type == "Concat" && before->inputs.size() > 1;
  }

  [[nodiscard]] bool has_quantized_weights(const onnx::Node& conv) const {
    const auto* group = conv.attribute<std::int64_t>("group");
    if (conv.op_type != "Conv" || (group && *group != 1)) return false;
    const onnx::Node* weights = writer(conv.inputs[nodes::Conv::In::W]);
    return weights && weights->op_type == "DequantizeLinear";
  }

  const onnx::Node* quantized_conv_behind(const onnx::Node& quantize) {
    std::set<const onnx::Node*> seen;
    std::vector<const onnx::Node*> next = {&quantize};
    while (!next.empty()) {
      const onnx::Node* node = next.back();
      next.pop_back();
      if (!seen.insert(node).second) continue;
      if (has_quantized_weights(*node)) return node;
      if (!is_one_of(kBehind, *node)) continue;
      for (const auto& output : node->outputs) {
        const auto& readers = readers_[output];
        next.insert(next.end(), readers.begin(), readers.end());
      }
    }
    return nullptr;
  }

  const onnx::Graph& graph_;
  std::map<std::string_view, const onnx::Node*> writers_;
  std::map<std::string_view, std::vector<const onnx::Node*>> readers_;
};

}  // namespace

void expect_no_quantization_fault(const onnx::Model& model) { Search(model.graph).look(); }

}  // namespace d5::openvino
