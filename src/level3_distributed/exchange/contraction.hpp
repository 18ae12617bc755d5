// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/level3_distributed/exchange/gradient_bucket.hpp"

namespace d5::detail {

/// Error feedback adds what a compressor left of a bucket to the next one, which it leaves a part
/// of again: that must be less than it was. `who` uses it, `otherwise` is how to do without
/// feedback. Throws: ValueError for a compressor that says it may leave as much as it was given.
void expect_contraction(const GradientCompressor& compressor,
                        const std::vector<GradientBucket>& buckets, const std::string& who,
                        const std::string& otherwise);

}  // namespace d5::detail
