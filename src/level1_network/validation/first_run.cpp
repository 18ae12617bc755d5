// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/first_run.hpp"

#include <vector>

#include "d5/onnx/nodes.hpp"
#include "d5/onnx/visitor.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level1_network/graph/network_parts.hpp"

namespace d5 {
namespace {

namespace nodes = onnx::nodes;

/// Inputs of a graph, in its order; empty `attribute`: it does not run.
struct Given {
  std::string attribute = {};
  std::vector<Value> inputs = {};
};

class FirstInputs {
 public:
  FirstInputs(const onnx::Node& node, const Network& network, const ValueMap& values)
      : node_(node), network_(network), values_(values) {}

  [[nodiscard]] Given find() const {
    if (!node_.domain.empty()) return {};
    if (node_.op_type == nodes::If::kName) return of_if();
    if (node_.op_type == nodes::Loop::kName) return of_loop();
    if (node_.op_type == nodes::Scan::kName && node_.opset > 8) return of_scan();
    if (node_.op_type == nodes::SequenceMap::kName) return of_sequence_map();
    return {};
  }

 private:
  [[nodiscard]] Value value(std::size_t i) const {
    const auto fed = values_.find(node_.inputs.at(i));
    return fed == values_.end() ? Value(network_.fetch(node_.inputs[i])) : fed->second;
  }

  [[nodiscard]] Given of_if() const {
    return {value(0).tensor().item<bool>() ? "then_branch" : "else_branch"};
  }

  [[nodiscard]] Given of_loop() const {
    using In = nodes::Loop::In;
    if (node_.has_input(In::M) && value(In::M).tensor().item<std::int64_t>() < 1) return {};
    if (node_.has_input(In::cond) && !value(In::cond).tensor().item<bool>()) return {};
    Given given{"body", {Tensor::scalar(std::int64_t{0}), Tensor::scalar(true)}};
    for (std::size_t i = In::v_initial; i < node_.inputs.size(); ++i) {
      given.inputs.push_back(value(i));
    }
    return given;
  }

  [[nodiscard]] Given of_scan() const {
    const nodes::Scan view(node_);
    const auto scanned = std::size_t(view.num_scan_inputs());
    const auto axes = view.scan_input_axes().value_or(std::vector<std::int64_t>());
    const auto directions = view.scan_input_directions().value_or(std::vector<std::int64_t>());
    Given given{"body"};
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      given.inputs.push_back(value(i));
      if (i + scanned < node_.inputs.size()) continue;
      const std::size_t k = i + scanned - node_.inputs.size();
      const Tensor x = given.inputs.back().tensor();
      const std::size_t axis =
          normalize_axis(k < axes.size() ? axes[k] : 0, x.shape().rank(), onnx::describe(node_));
      if (x.shape()[axis] == 0) return {};
      const bool backwards = k < directions.size() && directions[k] != 0;
      given.inputs.back() = slice(x, axis, backwards ? x.shape()[axis] - 1 : 0);
    }
    return given;
  }

  static Tensor slice(const Tensor& x, std::size_t axis, std::int64_t place) {
    std::vector<std::int64_t> dims(x.shape().begin(), x.shape().end());
    dims.erase(dims.begin() + std::ptrdiff_t(axis));
    Tensor result = Tensor::empty(x.dtype(), Shape(std::move(dims)));
    detail::TensorPart(x.desc(), axis, place, 1).cut(x, result);
    return result;
  }

  [[nodiscard]] Given of_sequence_map() const {
    Given given{"body"};
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      Value all = value(i);
      if (all.kind() != ValueKind::sequence) {
        given.inputs.push_back(std::move(all));
      } else if (all.sequence().values.empty()) {
        return {};
      } else {
        given.inputs.push_back(all.sequence().values.front());
      }
    }
    return given;
  }

  const onnx::Node& node_;
  const Network& network_;
  const ValueMap& values_;
};

}  // namespace

std::optional<FirstRun> first_run(const onnx::Node& node, const Network& network,
                                  const ValueMap& values) {
  const Given given = FirstInputs(node, network, values).find();
  const auto graphs = onnx::subgraphs(node);
  const auto graph = graphs.find(given.attribute);
  if (graph == graphs.end() || graph->second->inputs.size() != given.inputs.size()) return {};
  const onnx::Graph& body = *graph->second;
  ValueMap known = values;
  for (std::size_t i = 0; i < given.inputs.size(); ++i) {
    known[body.inputs[i].name] = given.inputs[i];
  }
  onnx::Model model = network.model();
  model.graph.initializers.insert(body.initializers.begin(), body.initializers.end());
  Network part = part_of(body.nodes, Network(std::move(model)), known);
  ValueMap fed;
  for (const auto& name : part.input_names()) fed[name] = known.at(name);
  return FirstRun{given.attribute, std::move(part), std::move(fed)};
}

}  // namespace d5
