// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/graph_links.hpp"

#include <algorithm>

#include "level1_network/nodes/node_names.hpp"

namespace d5 {

GraphLinks::GraphLinks(const Network& network) {
  for (const auto& node : network.graph().nodes) {
    for (const auto& output : node.outputs) {
      if (!output.empty()) writers_[output] = &node;
    }
    for (const auto& name : read_names(node)) {
      auto& readers = readers_[name];
      if (readers.empty() || readers.back() != &node) readers.push_back(&node);
    }
  }
  for (const auto& output : network.graph().outputs) leaving_.insert(output.name);
  for (const auto& [constant, output] : network.updates()) leaving_.insert(output);
}

const onnx::Node* GraphLinks::writer(std::string_view tensor) const {
  const auto place = writers_.find(tensor);
  return place == writers_.end() ? nullptr : place->second;
}

const std::vector<const onnx::Node*>& GraphLinks::readers(std::string_view tensor) const {
  static const std::vector<const onnx::Node*> kNone;
  const auto place = readers_.find(tensor);
  return place == readers_.end() ? kNone : place->second;
}

const Tensor* known_value(const Network& network, std::string_view tensor) {
  const onnx::Graph& graph = network.graph();
  const auto place = graph.initializers.find(tensor);
  if (place == graph.initializers.end() || network.updates().contains(place->first)) return nullptr;
  // An input with a default may be fed.
  const bool is_input =
      std::ranges::find(graph.inputs, place->first, &onnx::ValueInfo::name) != graph.inputs.end();
  return is_input ? nullptr : &place->second;
}

const Tensor* fixed_value(const Network& network, std::string_view tensor) {
  return network.is_parameter(tensor) ? nullptr : known_value(network, tensor);
}

std::size_t remove_unread_values(Network& network, const std::set<std::string>& names) {
  const GraphLinks links(network);
  std::vector<std::string> unread;
  for (const auto& name : names) {
    if (known_value(network, name) && !links.is_read(name)) unread.push_back(name);
  }
  if (!unread.empty()) network.splice({.remove = unread});
  return unread.size();
}

void bypass(Network& network, const std::map<std::string, std::string, std::less<>>& instead) {
  if (instead.empty()) return;
  network.redirect(instead);
  Splice change;
  for (const auto& [tensor, other] : instead) {
    change.remove.push_back(tensor);
    const auto outputs = network.output_names();
    if (std::ranges::find(outputs, tensor) == outputs.end()) continue;
    onnx::Node& identity = change.nodes.emplace_back();
    identity.op_type = "Identity";
    identity.inputs = {other};
    identity.outputs = {tensor};
  }
  network.splice(std::move(change));
}

}  // namespace d5
