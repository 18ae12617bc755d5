// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/network_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "onnx/tensor_type.hpp"

namespace d5 {
namespace {

/// Of a value that is no tensor: as the network declares it.
const onnx::Type& declared_type(const Network& network, const std::string& name) {
  for (const auto* infos : {&network.graph().inputs, &network.graph().values}) {
    const auto place = std::ranges::find(*infos, name, &onnx::ValueInfo::name);
    if (place != infos->end()) return place->type;
  }
  throw Unsupported(fmt::format(
      "'{}' is no tensor, and network '{}' does not declare its type: what reads it cannot run "
      "alone",
      printable(name), printable(network.name())));
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

Network alone(const onnx::Node& node, const Network& network, const ValueMap& values) {
  onnx::Model model = network.model();
  onnx::Graph& graph = model.graph;
  const auto initializers = std::move(graph.initializers);
  graph.nodes = {node};
  graph.inputs.clear();
  graph.outputs.clear();
  graph.values.clear();
  graph.initializers.clear();
  const auto names = read_names(node);
  for (const auto& name : std::set<std::string>(names.begin(), names.end())) {
    if (const auto known = initializers.find(name); known != initializers.end()) {
      graph.initializers.insert(*known);
      continue;
    }
    const auto place = values.find(name);
    if (place == values.end()) {
      throw NotFound(
          fmt::format("{}: there is no value for '{}'", describe(node), printable(name)));
    }
    const Value& value = place->second;
    graph.inputs.push_back(
        {name, value.is_tensor() ? type_of(value.tensor()) : declared_type(network, name)});
  }
  for (const auto& output : node.outputs) {
    if (!output.empty()) graph.outputs.push_back({output, {}});
  }
  return Network(std::move(model));
}

}  // namespace d5
