// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/micro_batch/batch_regions.hpp"

namespace d5 {

/// Adds to `change` the nodes that run the segment on micro-batches of `sizes` rows, one after
/// another: they split its inputs and concatenate its outputs. `sizes` add up to the batch.
/// Segments of one change must be disjoint.
void split_segment(const Network& network, const BatchSegment& segment,
                   const std::vector<std::int64_t>& sizes, Splice& change);

}  // namespace d5
