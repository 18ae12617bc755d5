// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/nested_transform.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

using GraphPointer = std::shared_ptr<const onnx::Graph>;

void append(TransformReport& whole, const TransformReport& part, const std::string& where) {
  if (!part.what.empty()) {
    whole.what += fmt::format("{}{}: {}", whole.what.empty() ? "" : "; ", where, part.what);
  }
  for (const auto& left : part.left) whole.left.push_back(fmt::format("{}: {}", where, left));
}

/// The graph as a network: captured values become inputs, and all weights are constants.
Network network_of(const onnx::Graph& graph, const onnx::Model& around) {
  onnx::Model model;
  model.graph = graph;
  for (auto& name : onnx::captured_names(graph))
    model.graph.inputs.push_back({std::move(name), {}});
  model.opset_imports = around.opset_imports;
  Network network(graph.name);
  network.rewrite(std::move(model));
  return network;
}

class NestedGraphs {
 public:
  NestedGraphs(const Transform& transform, const Network& network)
      : transform_(transform), network_(network) {}

  /// Whether a graph of the node was changed.
  bool rewrite(onnx::Node& node, TransformReport& report) const {
    bool changed = false;
    for (auto& [name, attribute] : node.attributes) {
      const std::string where = fmt::format("in {} of {}", printable(name), onnx::describe(node));
      if (auto* graph = std::get_if<GraphPointer>(&attribute)) {
        changed |= rewrite(*graph, where, report);
      } else if (auto* graphs = std::get_if<std::vector<GraphPointer>>(&attribute)) {
        for (auto& one : *graphs) changed |= rewrite(one, where, report);
      }
    }
    return changed;
  }

 private:
  bool rewrite(GraphPointer& graph, const std::string& where, TransformReport& report) const {
    Network body = network_of(*graph, network_.model());
    const TransformReport done = apply_throughout(transform_, body);
    append(report, done, where);
    if (done.what.empty()) return false;
    auto result = std::make_shared<onnx::Graph>(body.graph());
    result->inputs = graph->inputs;
    graph = std::move(result);
    return true;
  }

  const Transform& transform_;
  const Network& network_;
};

}  // namespace

TransformReport apply_throughout(const Transform& transform, Network& network) {
  TransformReport nested;
  if (transform.enters_graphs()) {
    Splice change;
    for (const auto& node : network.graph().nodes) {
      if (onnx::subgraphs(node).empty() || first_output(node).empty()) continue;
      onnx::Node other = node;
      if (!NestedGraphs(transform, network).rewrite(other, nested)) continue;
      change.remove.push_back(first_output(node));
      change.nodes.push_back(std::move(other));
    }
    if (!change.nodes.empty()) network.splice(std::move(change));
  }
  TransformReport report = transform.apply(network);
  if (!nested.what.empty()) report.what += (report.what.empty() ? "" : "; ") + nested.what;
  report.left.insert(report.left.end(), nested.left.begin(), nested.left.end());
  return report;
}

}  // namespace d5
