// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ranges>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/losses/loss.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

using Names = std::set<std::string, std::less<>>;

/// These tensors and all tensors that they are computed from.
Names ancestors(const onnx::Graph& graph, Names tensors) {
  for (const auto& node : std::views::reverse(graph.nodes)) {
    if (std::ranges::none_of(node.outputs,
                             [&](const auto& name) { return tensors.contains(name); })) {
      continue;
    }
    for (auto& name : read_names(node)) tensors.insert(std::move(name));
  }
  return tensors;
}

}  // namespace

Network without_loss(const Network& network, const std::string& loss) {
  const auto outputs = network.output_names();
  if (std::ranges::find(outputs, loss) == outputs.end()) {
    throw_unknown_name("network '" + printable(network.name()) + "': output", loss, outputs);
  }
  Names kept(outputs.begin(), outputs.end());
  kept.erase(loss);
  if (kept.empty()) return network.copy();
  for (const auto& [constant, output] : network.updates()) kept.insert(output);
  Network result = network.copy();
  onnx::Model model = result.model();
  onnx::Graph& graph = model.graph;
  const Names of_loss = ancestors(graph, {loss}), needed = ancestors(graph, std::move(kept));
  const auto goes = [&](const std::string& name) {
    return of_loss.contains(name) && !needed.contains(name);
  };
  std::erase_if(graph.nodes, [&](const onnx::Node& node) {
    return std::ranges::any_of(node.outputs, goes) &&
           std::ranges::none_of(node.outputs,
                                [&](const auto& name) { return needed.contains(name); });
  });
  for (auto* infos : {&graph.inputs, &graph.outputs, &graph.values}) {
    std::erase_if(*infos, [&](const auto& info) { return goes(info.name); });
  }
  std::erase_if(graph.initializers, [&](const auto& entry) { return goes(entry.first); });
  result.rewrite(std::move(model));
  return result;
}

}  // namespace d5
