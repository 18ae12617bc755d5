// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Sorts the nodes topologically: keeps the given order if it is valid, otherwise runs each node as
/// soon as its inputs are available. Throws: ValueError, with its nodes, for a cycle.
[[nodiscard]] std::vector<onnx::Node> in_order(std::vector<onnx::Node> nodes);

}  // namespace d5
