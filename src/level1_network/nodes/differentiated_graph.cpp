// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/differentiated_graph.hpp"

#include <algorithm>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

using View = onnx::nodes::training::Gradient;

}  // namespace

bool is_gradient(const onnx::Node& node) {
  return node.op_type == View::kName && node.domain == View::kDomain;
}

std::shared_ptr<const onnx::Graph> differentiated_graph(const onnx::Node& gradient,
                                                        const onnx::Graph& around) {
  const View view(gradient);
  std::vector<std::string> independent = view.xs();
  for (auto& name : view.zs().value_or(std::vector<std::string>())) {
    independent.push_back(std::move(name));
  }
  auto graph = std::make_shared<onnx::Graph>();
  graph->name = "of " + onnx::describe(gradient);
  for (const auto& name : independent) graph->inputs.push_back({name, {}});
  graph->outputs = {{view.y(), {}}};

  const auto itself = std::find_if(around.nodes.begin(), around.nodes.end(),
                                   [&](const onnx::Node& node) { return &node == &gradient; });
  std::set<std::string> needed{view.y()}, made(independent.begin(), independent.end());
  for (auto node = std::make_reverse_iterator(itself); node != around.nodes.rend(); ++node) {
    const std::set<std::string> outputs(node->outputs.begin(), node->outputs.end());
    if (std::none_of(outputs.begin(), outputs.end(), [&](const std::string& name) {
          return needed.contains(name) && !made.contains(name);
        })) {
      continue;
    }
    onnx::Node& part = graph->nodes.emplace_back(*node);
    for (std::string& name : part.outputs) {
      if (made.contains(name)) name.clear();  // it is independent
    }
    made.insert(outputs.begin(), outputs.end());
    for (auto& name : read_names(*node)) needed.insert(std::move(name));
  }
  if (!made.contains(view.y())) {
    throw NotFound(onnx::describe(gradient) + ": no node before it makes '" + printable(view.y()) +
                   "', its y");
  }
  std::reverse(graph->nodes.begin(), graph->nodes.end());
  return graph;
}

}  // namespace d5
