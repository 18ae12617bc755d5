// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "d5/core/entries/option.hpp"
#include "d5/level3_distributed/collectives/collective_plan.hpp"

namespace d5::detail {

/// Segment size of a pipelined algorithm, in which the next rank works while the rest is in
/// transit.
struct SegmentOptions {
  std::int64_t segment_bytes = std::int64_t{128} << 10;
  void declare(OptionList& options) {
    options.add("segment_bytes", segment_bytes, "segment size: maximum bytes of a message",
                {.least = 1, .unit = "byte"});
  }
  /// Number of segments of a range; elements are never split.
  [[nodiscard]] std::int64_t number(std::int64_t elements, std::int64_t element_bytes) const {
    const std::int64_t each = std::max<std::int64_t>(1, segment_bytes / element_bytes);
    return std::max<std::int64_t>(1, (elements + each - 1) / each);
  }
};

[[nodiscard]] inline ElementRange segment(ElementRange range, std::int64_t index,
                                          std::int64_t segments) {
  return {range.begin + range.size() * index / segments,
          range.begin + range.size() * (index + 1) / segments};
}

}  // namespace d5::detail
