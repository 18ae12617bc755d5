// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5 {

/// By how much convolutions and poolings make `input`, NxCx..., smaller where it is smallest: a
/// number for each dimension from the third on. Fewer elements than that, and what lies there has
/// less than one. Nodes that move axes end a path.
[[nodiscard]] std::vector<std::int64_t> total_strides(const onnx::Graph& graph,
                                                      const std::string& input);

}  // namespace d5
