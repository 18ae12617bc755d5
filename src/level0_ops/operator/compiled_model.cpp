// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/compiled_model.hpp"

#include <algorithm>

namespace d5 {

onnx::Model with_open_sizes(const onnx::Model& model, const ModelTarget& target) {
  onnx::Model open = model;
  for (auto& input : open.graph.inputs) {
    const auto declared = std::ranges::find(target.declared, input.name, &onnx::ValueInfo::name);
    if (declared != target.declared.end()) input = *declared;
  }
  open.graph.values.clear();  // depend on the sizes
  return open;
}

}  // namespace d5
