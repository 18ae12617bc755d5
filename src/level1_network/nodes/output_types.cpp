// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/output_types.hpp"

#include <algorithm>
#include <utility>

#include "d5/onnx/schema.hpp"
#include "level1_network/nodes/value_descs.hpp"
#include "onnx/tensor_type.hpp"

namespace d5::detail {
namespace {

bool is_open(const onnx::ValueInfo& info) {
  return std::ranges::any_of(info.type.dims, [](const onnx::Dim& dim) {
    return !std::holds_alternative<std::int64_t>(dim);
  });
}

}  // namespace

void declare_custom_outputs(onnx::Graph& graph) {
  if (std::ranges::all_of(graph.nodes,
                          [](const auto& node) { return onnx::schema_of(node).has_value(); })) {
    return;
  }
  const ValueDescs known = infer_values(graph, [](const onnx::Dim&) { return 1; });
  const bool open = std::ranges::any_of(graph.inputs, is_open);
  for (auto& output : graph.outputs) {
    const auto desc = known.find(output.name);
    if (output.type.kind != ValueKind::none || desc == known.end()) continue;
    if (!desc->second.is_tensor()) continue;
    const TensorDesc& tensor = desc->second.tensor;
    std::vector<onnx::Dim> dims(tensor.shape.rank());
    if (!open) std::ranges::copy(tensor.shape, dims.begin());
    output.type = tensor_type(tensor.dtype, std::move(dims));
  }
}

}  // namespace d5::detail
