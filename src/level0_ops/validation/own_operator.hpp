// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/operator/custom_operator.hpp"
#include "d5/onnx/schema.hpp"

namespace d5::detail {

/// Whether the operator is a custom one, without an independent definition.
[[nodiscard]] inline bool is_own(const onnx::Node& node) {
  return !onnx::schema_of(node) && custom_operators().has_operator(node);
}

}  // namespace d5::detail
