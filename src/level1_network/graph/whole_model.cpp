// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/whole_model.hpp"

#include <algorithm>
#include <set>

#include "level1_network/nodes/output_types.hpp"
#include "level1_network/nodes/value_descs.hpp"
#include "onnx/tensor_type.hpp"

namespace d5 {
namespace {

onnx::ValueInfo fed_input(const onnx::Graph& graph, const std::string& name,
                          const ValueDesc& desc) {
  if (desc.is_tensor()) return {name, tensor_type(desc.tensor)};
  return *std::ranges::find(graph.inputs, name, &onnx::ValueInfo::name);
}

/// Declares intermediate values whose sizes d5's own rules infer, as ONNX's rules compute no sizes.
/// It also declares the outputs: a file may declare wrong ranks, which frameworks warn about or
/// refuse.
void declare_values(onnx::Graph& graph) {
  ValueDescs known;
  for (const auto& input : graph.inputs) {
    if (const ValueDesc desc = static_desc(input.type); desc.is_tensor()) known[input.name] = desc;
  }
  const ValueDescs all = infer_values(graph, known);
  std::set<std::string, std::less<>> declared;
  for (const auto& input : graph.inputs) declared.insert(input.name);
  for (auto& output : graph.outputs) {
    declared.insert(output.name);
    const auto found = all.find(output.name);
    if (found != all.end() && found->second.is_tensor()) {
      output.type = tensor_type(found->second.tensor);
    }
  }
  for (const auto& [name, desc] : all) {
    if (!desc.is_tensor() || declared.contains(name) || graph.initializers.contains(name)) continue;
    graph.values.push_back({name, tensor_type(desc.tensor)});
  }
}

}  // namespace

WholeModel whole_model(const Network& network, NetworkMode mode,
                       const std::vector<std::pair<std::string, ValueDesc>>& fed,
                       const std::vector<std::string>& trained) {
  GraphInMode changed = graph_in_mode(network, mode);
  WholeModel whole{.model = network.model(), .variables = trained, .outputs = {}, .updates = {}};
  onnx::Graph& graph = whole.model.graph = std::move(changed.graph);
  std::vector<onnx::ValueInfo> inputs;
  for (const auto& [name, desc] : fed) {
    inputs.push_back(fed_input(graph, name, desc));
    graph.initializers.erase(name);  // its default
  }
  for (const auto& [constant, output] : changed.updates) whole.variables.push_back(constant);
  for (const auto& name : whole.variables) {
    inputs.push_back({name, tensor_type(network.fetch(name).desc())});
    graph.initializers.erase(name);
  }
  graph.inputs = std::move(inputs);
  for (const auto& output : graph.outputs) whole.outputs.push_back(output.name);
  for (const auto& [constant, output] : changed.updates) {
    const auto place = std::ranges::find(graph.outputs, output, &onnx::ValueInfo::name);
    whole.updates.emplace_back(constant, std::size_t(place - graph.outputs.begin()));
    if (place != graph.outputs.end()) continue;
    graph.outputs.push_back({output, tensor_type(network.fetch(constant).desc())});
  }
  graph.values.clear();  // declared for sizes that may be others
  declare_values(graph);
  detail::declare_custom_outputs(graph);
  return whole;
}

ValueDesc static_desc(const onnx::Type& type) {
  if (type.kind != ValueKind::tensor || !type.has_shape) return {};
  Shape shape;
  for (const onnx::Dim& dim : type.dims) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    if (!size) return {};
    shape.push_back(*size);
  }
  return TensorDesc{type.dtype, shape};
}

}  // namespace d5
