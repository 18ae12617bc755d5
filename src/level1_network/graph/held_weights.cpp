// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/held_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "d5/onnx/visitor.hpp"
#include "level1_network/graph/differentiated_inputs.hpp"
#include "level1_network/graph/parameter_layout.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

using Tensors = std::map<std::string, Tensor, std::less<>>;

/// The initializers and Constants of one graph that have gradients.
Tensors weights_in(const onnx::Graph& graph) {
  Tensors known = graph.initializers;
  known.merge(constants_of(graph));
  TensorNames candidates;
  for (const auto& [name, tensor] : known) {
    if (may_be_trained(tensor.dtype())) candidates.insert(name);
  }
  Tensors result;
  for (const auto& name : differentiated_among(graph, candidates)) {
    result.emplace(name, known.at(name));
  }
  return result;
}

class Hoisting {
 public:
  Hoisting(onnx::Graph& graph, const std::vector<bool>* wanted) : graph_(graph), wanted_(wanted) {
    count_names(graph);
    for (auto& node : graph.nodes) hoist_from(node);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(hoisted_); }

 private:
  void count_names(const onnx::Graph& graph) {
    for (const auto& input : graph.inputs) ++defined_[input.name];
    for (const auto& [name, value] : graph.initializers) ++defined_[name];
    for (const auto& node : graph.nodes) {
      for (const auto& output : node.outputs) ++defined_[output];
      for (const auto& [attribute, inner] : onnx::subgraphs(node)) count_names(*inner);
    }
  }

  void hoist_from(onnx::Node& node) {
    const auto held = onnx::subgraphs(node);
    if (held.empty()) return;
    if (!DifferentiatedInputs(node).contains(node.inputs.size())) return;
    for (const auto& [attribute, graph] : held) {
      auto inner = std::make_shared<onnx::Graph>(*graph);
      const std::size_t before = hoisted_.size();
      take_out(*inner);
      for (auto& one : inner->nodes) hoist_from(one);
      if (hoisted_.size() > before) {
        node.attributes.insert_or_assign(attribute, std::shared_ptr<const onnx::Graph>(inner));
      }
    }
  }

  void take_out(onnx::Graph& inner) {
    NewNames renamed;
    TensorNames gone;
    for (const auto& [name, value] : weights_in(inner)) {
      const bool leaves =
          std::ranges::find(inner.outputs, name, &onnx::ValueInfo::name) != inner.outputs.end();
      if (leaves || value.shape().rank() == 0) continue;
      const std::size_t candidate = candidates_++;
      if (wanted_ && !(*wanted_)[candidate]) continue;
      std::string outside = name;
      for (int number = 2; defined_[outside] > (outside == name ? 1 : 0); ++number) {
        outside = fmt::format("{}_{}", name, number);
      }
      if (outside != name) {
        --defined_[name];
        ++defined_[outside];
        renamed[name] = outside;
      }
      graph_.initializers.emplace(outside, value);
      hoisted_.push_back(outside);
      gone.insert(name);
    }
    if (gone.empty()) return;
    const auto goes = [&](const auto& name) { return gone.contains(name); };
    std::erase_if(inner.initializers, [&](const auto& entry) { return goes(entry.first); });
    std::erase_if(inner.values, [&](const auto& info) { return goes(info.name); });
    std::erase_if(inner.nodes, [&](const auto& node) {
      return node.op_type == "Constant" && goes(first_output(node));
    });
    for (auto& node : inner.nodes) rename_reads(node, renamed);
  }

  onnx::Graph& graph_;
  const std::vector<bool>* wanted_;                  ///< in the order of the candidates; null: all
  std::size_t candidates_ = 0;                       ///< met so far
  std::map<std::string, int, std::less<>> defined_;  ///< number of graphs that define the name
  std::vector<std::string> hoisted_;
};

}  // namespace

std::map<std::string, Tensor, std::less<>> constants_of(const onnx::Graph& graph) {
  Tensors result;
  for (const auto& node : graph.nodes) {
    if (!node.domain.empty() || node.op_type != "Constant" || !node.has_output(0)) continue;
    if (const auto* value = node.attribute<Tensor>("value")) {
      result.emplace(node.outputs[0], *value);
    } else if (const auto* list = node.attribute<std::vector<float>>("value_floats")) {
      result.emplace(node.outputs[0], Tensor::vector(*list));
    }
  }
  return result;
}

std::vector<Tensor> held_weights(const onnx::Node& node) {
  std::vector<Tensor> result;
  for (const auto& [attribute, graph] : onnx::subgraphs(node)) {
    for (const auto& [name, value] : weights_in(*graph)) result.push_back(value);
    for (const auto& inner : graph->nodes)
      std::ranges::move(held_weights(inner), std::back_inserter(result));
  }
  return result;
}

std::vector<std::string> hoist_weights(onnx::Graph& graph, const std::vector<bool>* wanted) {
  return Hoisting(graph, wanted).take();
}

}  // namespace d5
