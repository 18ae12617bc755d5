// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5 {

/// The declared type of a tensor with these sizes.
[[nodiscard]] inline onnx::Type tensor_type(DType dtype, std::vector<onnx::Dim> dims) {
  onnx::Type type;
  type.kind = ValueKind::tensor;
  type.dtype = dtype;
  type.has_shape = true;
  type.dims = std::move(dims);
  return type;
}

/// The declared type of a tensor with known sizes.
[[nodiscard]] inline onnx::Type tensor_type(const TensorDesc& desc) {
  return tensor_type(desc.dtype, {desc.shape.begin(), desc.shape.end()});
}

}  // namespace d5
