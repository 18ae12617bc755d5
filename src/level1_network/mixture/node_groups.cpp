// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/node_groups.hpp"

#include <algorithm>
#include <set>

#include "d5/onnx/visitor.hpp"
#include "level1_network/nodes/identical.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/nodes/random_nodes.hpp"

namespace d5 {
namespace {

/// A node with its inputs and outputs.
class Reading {
 public:
  Reading(const onnx::Node& node, const OpContext& context, const onnx::Graph& graph)
      : node_(&node), graph_(&graph) {
    for (const Value* value : context.inputs) descs_.push_back(desc_of(value));
    for (const Value* value : context.outputs) descs_.push_back(desc_of(value));
  }

  [[nodiscard]] bool is_like(const Reading& other) const {
    return node_->op_type == other.node_->op_type && node_->domain == other.node_->domain &&
           node_->opset == other.node_->opset && onnx::subgraphs(*node_).empty() &&
           descs_ == other.descs_ && identical_attributes(*node_, *other.node_) &&
           reads_alike(other);
  }

 private:
  struct Desc {
    ValueKind kind = ValueKind::none;
    DType dtype = DType::undefined;
    Shape shape;
    bool operator==(const Desc&) const = default;
  };
  static Desc desc_of(const Value* value) {
    if (!value) return {};
    const ValueDesc desc = value->desc();
    return {desc.kind, desc.tensor.dtype, desc.tensor.shape};
  }

  const Tensor* constant(std::size_t i) const {
    const auto place = graph_->initializers.find(node_->inputs[i]);
    return place == graph_->initializers.end() ? nullptr : &place->second;
  }
  /// Weights are equal if both exist; values that decide a shape must be the same.
  bool reads_alike(const Reading& other) const {
    if (node_->inputs.size() != other.node_->inputs.size()) return false;
    for (std::size_t i = 0; i < node_->inputs.size(); ++i) {
      const Tensor *one = constant(i), *its = other.constant(i);
      if ((one == nullptr) != (its == nullptr)) return false;
      if (one && !is_floating_point(one->dtype()) && !identical(*one, *its)) return false;
    }
    return true;
  }

  const onnx::Node* node_;
  const onnx::Graph* graph_;
  std::vector<Desc> descs_;
};

}  // namespace

std::vector<std::size_t> node_groups(PlanTrial& trial, const onnx::Graph& graph) {
  std::vector<Reading> known;
  std::vector<std::size_t> groups;
  for (std::size_t n = 0; n < trial.nodes(); ++n) {
    const StepInfo& info = trial.info(n);
    const Reading reading(info.node, trial.plan().forward[info.step].context, graph);
    const auto like =
        std::ranges::find_if(known, [&](const Reading& other) { return reading.is_like(other); });
    groups.push_back(std::size_t(like - known.begin()));
    if (like == known.end()) known.push_back(reading);
  }
  return groups;
}

std::vector<bool> random_nodes(const PlanTrial& trial) {
  std::set<std::string> drawn;
  std::vector<bool> result;
  for (std::size_t n = 0; n < trial.nodes(); ++n) {
    const onnx::Node& node = trial.info(n).node;
    bool random = draws_random_numbers(node);
    for (const auto& [attribute, graph] : onnx::subgraphs(node)) {
      random = random || draws_random_numbers(*graph);
    }
    for (const auto& name : read_names(node)) random = random || drawn.contains(name);
    if (random) drawn.insert(node.outputs.begin(), node.outputs.end());
    result.push_back(random);
  }
  return result;
}

}  // namespace d5
