// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/declared_shape.hpp"

namespace d5 {

bool contradicts(const onnx::Type& declared, const TensorDesc& found, const NamedSizes& named) {
  if (declared.kind != ValueKind::tensor || !declared.has_shape) return false;
  if (declared.dims.size() != found.shape.rank()) return true;
  for (std::size_t axis = 0; axis < declared.dims.size(); ++axis) {
    const onnx::Dim& dim = declared.dims[axis];
    const auto* size = std::get_if<std::int64_t>(&dim);
    if (const auto* name = std::get_if<std::string>(&dim)) {
      const auto known = named.find(*name);
      if (known != named.end()) size = &known->second;
    }
    if (size && *size != found.shape[axis]) return true;
  }
  return false;
}

}  // namespace d5
