// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/network_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "onnx/tensor_type.hpp"

namespace d5 {
namespace {

/// Declared type of a value that is not a tensor.
const onnx::Type& declared_type(const Network& network, const std::string& name) {
  for (const auto* infos : {&network.graph().inputs, &network.graph().values}) {
    const auto place = std::ranges::find(*infos, name, &onnx::ValueInfo::name);
    if (place != infos->end()) return place->type;
  }
  throw Unsupported(
      fmt::format("'{}' is not a tensor, and network '{}' does not declare its type: nodes that "
                  "read it cannot run alone",
                  printable(name), printable(network.name())));
}

/// Type to declare in a file where ONNX's rules cannot infer it, as after an operator of
/// com.microsoft. Sizes are left open, as they may be reduced.
onnx::Type open_type(const ValueMap& values, const std::string& name) {
  const auto known = values.find(name);
  if (known == values.end() || !known->second.is_tensor()) return {};
  const Tensor& tensor = known->second.tensor();
  return tensor_type(tensor.dtype(), std::vector<onnx::Dim>(std::size_t(tensor.shape().rank())));
}

}  // namespace

onnx::Type type_of(const Tensor& tensor) {
  return tensor_type(tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()});
}

Network beginning_of(const Network& network, std::size_t nodes,
                     const std::set<std::string>& outputs) {
  onnx::Model model = network.model();
  model.graph.nodes.resize(nodes);
  model.graph.outputs.clear();
  for (const auto& name : outputs) model.graph.outputs.push_back({name, {}});
  return Network(std::move(model));
}

Network part_of(const std::vector<onnx::Node>& nodes, const Network& network,
                const ValueMap& values) {
  onnx::Model model = network.model();
  onnx::Graph& graph = model.graph;
  const auto initializers = std::move(graph.initializers);
  const auto given_out = std::move(graph.outputs);
  graph.nodes = nodes;
  graph.inputs.clear();
  graph.outputs.clear();
  graph.values.clear();
  graph.initializers.clear();
  std::set<std::string> read, written;
  for (const auto& node : nodes) {
    for (const auto& name : read_names(node)) read.insert(name);
    written.insert(node.outputs.begin(), node.outputs.end());
  }
  written.erase("");
  for (const auto& name : read) {
    if (written.contains(name)) continue;
    if (const auto known = initializers.find(name); known != initializers.end()) {
      graph.initializers.insert(*known);
      continue;
    }
    const auto place = values.find(name);
    if (place == values.end()) {
      throw NotFound(
          fmt::format("{}: there is no value for '{}'", describe(nodes.front()), printable(name)));
    }
    const Value& value = place->second;
    graph.inputs.push_back(
        {name, value.is_tensor() ? type_of(value.tensor()) : declared_type(network, name)});
  }
  for (const auto& node : nodes) {
    for (const auto& output : node.outputs) {
      const auto given = std::ranges::find(given_out, output, &onnx::ValueInfo::name);
      const bool is_given = given != given_out.end();
      if (output.empty() || (read.contains(output) && !is_given)) continue;
      graph.outputs.push_back({output, is_given ? given->type : open_type(values, output)});
    }
  }
  return Network(std::move(model));
}

Network alone(const onnx::Node& node, const Network& network, const ValueMap& values) {
  return part_of({node}, network, values);
}

}  // namespace d5
