// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Place of the input that is a cache, where output `k` of the node is its new value: for
/// TensorScatter and com.microsoft's GroupQueryAttention. Other operators that write in place are
/// left out: a step of these can be run again after a failure, for it writes the same rows.
[[nodiscard]] std::optional<std::size_t> cache_of(const onnx::Node& node, std::size_t k);

}  // namespace d5
