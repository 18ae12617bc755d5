// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5 {

/// Whether element i of the node's output depends only on element i of its inputs, all broadcast to
/// one shape by NumPy's rules.
[[nodiscard]] bool is_elementwise(const onnx::Node& node);

}  // namespace d5
