// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/micro_batch/batch_regions.hpp"

namespace d5 {

/// Adds to `change` what runs the segment on `sizes` rows at a time, one micro-batch after the
/// other, from cutting its input to joining what leaves it. `sizes` add up to the batch; segments
/// of one change have no node in common.
void split_segment(const Network& network, const BatchSegment& segment,
                   const std::vector<std::int64_t>& sizes, Splice& change);

}  // namespace d5
