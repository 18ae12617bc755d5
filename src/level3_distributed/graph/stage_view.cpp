// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/stage_view.hpp"

#include <algorithm>
#include <vector>

namespace d5::detail {
namespace {

onnx::Node other_stages(const Network& whole, const std::string& which) {
  onnx::Node node;
  node.op_type = "OtherStages";
  node.domain = "d5";
  node.opset = 1;
  node.name = whole.name() + "." + which;
  node.inputs = whole.input_names();
  return node;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// Lays out the parameters of two networks with the same parameters in shared memory.
void lay_out_together(Network& network, Network& other) {
  std::map<std::string, Tensor> values;
  for (const auto& [name, value] : network.graph().initializers) {
    if (network.is_parameter(name)) values[name] = value;
  }
  std::vector<Tensor> arenas;  // for values and for gradients
  network.lay_out_in([&](std::size_t bytes) {
    return arenas.emplace_back(Tensor::zeros(DType::uint8, {std::int64_t(bytes)}));
  });
  std::size_t next = 0;
  other.lay_out_in([&](std::size_t) { return arenas.at(next++); });
  for (Parameter& parameter : network.parameters()) {
    parameter.value.copy_from(values.at(parameter.name));
  }
}

}  // namespace

Network stage_view(const Network& whole, NetworkPart& part, int stage,
                   const StageOfOutputs& outputs) {
  onnx::Model model = part.network.model();
  onnx::Graph& graph = model.graph;
  onnx::Node earlier = other_stages(whole, "earlier_stages");
  onnx::Node later = other_stages(whole, "later_stages");
  for (const CutTensor& cut : part.receives) add_once(earlier.outputs, cut.name);
  for (const CutTensor& cut : part.sends) add_once(later.inputs, cut.name);
  graph.outputs.clear();
  for (const auto& [name, its_stage] : outputs) {
    if (its_stage < stage) add_once(earlier.outputs, name);
    if (its_stage > stage) add_once(later.outputs, name);
  }
  const auto inputs = whole.input_names();
  graph.inputs = whole.graph().inputs;
  std::erase_if(graph.inputs, [&](const auto& input) {
    return std::ranges::find(inputs, input.name) == inputs.end();
  });
  for (const auto& output : whole.graph().outputs) {
    if (outputs.contains(output.name)) graph.outputs.push_back(output);
  }
  if (!earlier.outputs.empty()) graph.nodes.insert(graph.nodes.begin(), std::move(earlier));
  if (!later.outputs.empty()) graph.nodes.push_back(std::move(later));

  Network view(part.network.name());
  for (const auto& [name, value] : graph.initializers) {
    if (part.network.is_parameter(name)) view.add_parameter(name, value);
  }
  view.rewrite(std::move(model));
  for (const auto& [constant, output] : part.network.updates()) view.add_update(constant, output);
  lay_out_together(part.network, view);
  return view;
}

}  // namespace d5::detail
