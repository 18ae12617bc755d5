// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "level3_distributed/graph/linear_layers.hpp"

namespace d5::detail {

/// Heads of an attention that end in the linear layer at node `rows`: those of ONNX's Attention,
/// packed or not, or of nodes that compute softmax(Q K^T s) V. Empty where there are none, or they
/// cannot be cut.
[[nodiscard]] std::optional<TensorPair> attention_to(const LinearLayers& layers, std::size_t rows);

}  // namespace d5::detail
