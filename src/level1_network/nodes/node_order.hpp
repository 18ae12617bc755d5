// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/onnx/model.hpp"

namespace d5 {

/// The nodes in an order in which they can run: the given one where it can, otherwise each as soon
/// as what it reads is there. Throws: ValueError, with its nodes, for a cycle.
[[nodiscard]] std::vector<onnx::Node> in_order(std::vector<onnx::Node> nodes);

}  // namespace d5
