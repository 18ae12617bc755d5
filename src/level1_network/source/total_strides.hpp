// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Total stride of convolutions and poolings from `input`, NxCx..., to its smallest descendant: one
/// number for each dimension from the third on. An input with fewer elements leaves less than one
/// there. Nodes that move axes end a path.
[[nodiscard]] std::vector<std::int64_t> total_strides(const onnx::Graph& graph,
                                                      const std::string& input);

}  // namespace d5
