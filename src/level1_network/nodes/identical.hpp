// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// Whether type, shape and bits are equal: 0 differs from -0, and a NaN equals itself.
[[nodiscard]] bool identical(const Tensor& a, const Tensor& b);

/// Nodes with sparse tensors, types or graphs are never equal, as these are not compared.
[[nodiscard]] bool identical_attributes(const onnx::Node& a, const onnx::Node& b);

}  // namespace d5
