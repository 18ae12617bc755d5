// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/level3_distributed/exchange/gradient_bucket.hpp"

namespace d5::detail {

/// Checks that a compressor is a contraction, as error feedback needs: otherwise the error that is
/// added to the next gradient may grow in each step. `who` uses the compressor; `otherwise`
/// describes how to train without feedback.
/// Throws: ValueError for a compressor whose `rest_bound` is 1 or more.
void expect_contraction(const GradientCompressor& compressor,
                        const std::vector<GradientBucket>& buckets, const std::string& who,
                        const std::string& otherwise);

}  // namespace d5::detail
