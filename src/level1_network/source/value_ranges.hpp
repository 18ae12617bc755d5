// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "level1_network/nodes/value_descs.hpp"

namespace d5 {

/// Whole numbers from which a network can take an input's values: both ends are in it.
struct ValueRange {
  std::int64_t least = 0, most = 9;
  bool operator==(const ValueRange&) const = default;
};
using ValueRanges = std::map<std::string, ValueRange, std::less<>>;

/// Of inputs whose values choose, count or measure something: what reads them tells what they may
/// be, also behind nodes that only move or cast them. An index lies in what it is looked up in, a
/// length is that of what it measures, a number that is compared with one is that one, a mask is 0
/// or 1, a divisor is not 0. Others have none.
///
/// `found` is what is known of the graph's values for its inputs' sizes.
[[nodiscard]] ValueRanges value_ranges(const onnx::Graph& graph, const Inference& found);

}  // namespace d5
