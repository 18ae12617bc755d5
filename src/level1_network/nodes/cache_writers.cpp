// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/cache_writers.hpp"

#include "d5/onnx/nodes.hpp"

namespace d5 {

std::optional<std::size_t> cache_of(const onnx::Node& node, std::size_t k) {
  using Scatter = onnx::nodes::TensorScatter;
  using Attention = onnx::nodes::microsoft::GroupQueryAttention;
  if (node.domain == Scatter::kDomain && node.op_type == Scatter::kName) {
    if (k == 0) return Scatter::In::past_cache;
  } else if (node.domain == Attention::kDomain && node.op_type == Attention::kName) {
    if (k == Attention::Out::present_key) return Attention::In::past_key;
    if (k == Attention::Out::present_value) return Attention::In::past_value;
  }
  return std::nullopt;
}

}  // namespace d5
