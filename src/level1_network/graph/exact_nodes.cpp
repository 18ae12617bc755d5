// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/exact_nodes.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "level1_network/graph/graph_links.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

using Words = std::set<std::string_view>;

/// Operators applied to counts of pixels, tokens and buckets before they become integers again.
const Words& arithmetic() {
  static const Words words = {
      "Abs",   "Add",    "Cast",    "Ceil",      "Clip",      "Concat",    "CumSum",
      "Div",   "Einsum", "Exp",     "Expand",    "Flatten",   "Floor",     "Identity",
      "Log",   "MatMul", "Max",     "Min",       "Mod",       "Mul",       "Neg",
      "Pow",   "Range",  "Reshape", "ReduceMax", "ReduceMin", "ReduceSum", "Reciprocal",
      "Round", "Sign",   "Slice",   "Split",     "Sqrt",      "Squeeze",   "Sub",
      "Sum",   "Tile",   "Where",   "Transpose", "Unsqueeze"};
  return words;
}

/// Products; their parameters may be factors of positions.
const Words& products() {
  static const Words words = {"Einsum", "MatMul", "Mul"};
  return words;
}

const Words& discerning() {
  static const Words words = {"Cos", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
                              "Mod", "Sin",   "Tan"};
  return words;
}

class ExactNodes {
 public:
  ExactNodes(const Network& network, const ElementTypes& types)
      : network_(network), types_(types), links_(network) {}

  /// Adds the nodes on paths from integers, and from `fed`, to values that must be exact.
  void find(const std::set<std::string>& fed, bool to_integers_alone,
            std::set<std::string>& found) {
    counted_ = fed;
    std::vector<const onnx::Node*> ends;
    for (const auto& node : network_.graph().nodes) {
      if (!node.domain.empty()) continue;
      const bool integers = makes_integers(node);
      if (integers || (!to_integers_alone && discerning().contains(node.op_type))) {
        if (reads_counted(node)) ends.push_back(&node);
      }
      if (!integers && counts(node)) {
        for (const auto& name : node.outputs) {
          if (is_single(name)) counted_.insert(name);
        }
      }
    }
    while (!ends.empty()) {
      const onnx::Node* node = ends.back();
      ends.pop_back();
      if (!found.insert(first_output(*node)).second) continue;
      for (const auto& name : node->inputs) {
        const onnx::Node* writer = counted_.contains(name) ? links_.writer(name) : nullptr;
        if (writer) ends.push_back(writer);
      }
    }
  }

 private:
  [[nodiscard]] bool is_single(std::string_view name) const {
    return detail::type_at(types_, name) == DType::float32;
  }
  [[nodiscard]] bool reads_counted(const onnx::Node& node) const {
    return std::ranges::any_of(node.inputs, [&](const auto& n) { return counted_.contains(n); });
  }
  [[nodiscard]] bool makes_integers(const onnx::Node& node) const {
    return node.op_type == "Cast" && is_single(node.inputs.front()) &&
           is_integer(detail::type_at(types_, node.outputs.front()));
  }

  /// Whether all real numbers that the node reads come from integers, or are the same in every run.
  [[nodiscard]] bool counts(const onnx::Node& node) const {
    if (!arithmetic().contains(node.op_type)) return false;
    const bool begins =
        node.op_type == "Range" ||
        (node.op_type == "Cast" && is_integer(detail::type_at(types_, node.inputs.front())));
    if (begins) return true;
    const auto fits = [&](const std::string& name) {
      return !is_single(name) || counted_.contains(name) || is_fixed(name) ||
             (products().contains(node.op_type) && network_.is_parameter(name));
    };
    return reads_counted(node) && std::ranges::all_of(node.inputs, fits);
  }
  [[nodiscard]] bool is_fixed(const std::string& name) const {
    if (fixed_value(network_, name)) return true;
    const onnx::Node* writer = links_.writer(name);
    return writer && (writer->op_type == "Constant" || writer->op_type == "ConstantOfShape");
  }

  const Network& network_;
  const ElementTypes& types_;
  const GraphLinks links_;
  std::set<std::string> counted_;
};

}  // namespace

std::set<std::string> exact_nodes(const Network& network, const ElementTypes& types) {
  std::set<std::string> found, fed;
  for (const auto& name : network.input_names()) {
    if (detail::type_at(types, name) == DType::float32) fed.insert(name);
  }
  ExactNodes nodes(network, types);
  nodes.find({}, false, found);
  nodes.find(fed, true, found);
  return found;
}

}  // namespace d5
