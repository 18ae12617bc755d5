// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "level1_network/nodes/value_descs.hpp"

namespace d5 {

/// Range of integers that a network accepts as an input's values, both ends included.
struct ValueRange {
  std::int64_t least = 0, most = 9;
  bool operator==(const ValueRange&) const = default;
};
using ValueRanges = std::map<std::string, ValueRange, std::less<>>;

/// Ranges of inputs whose values choose, count or measure something, derived from their readers,
/// also through nodes that only move or cast them. An index is within the tensor it looks up, a
/// length is the measured length, a number compared with a constant equals it, a mask is 0 or 1, a
/// divisor is not 0. Other inputs have no range.
///
/// `found` is the inference of the graph's values for its inputs' sizes.
[[nodiscard]] ValueRanges value_ranges(const onnx::Graph& graph, const Inference& found);

}  // namespace d5
