// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level2_training/optimization/gradient_source.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/exchange/gradient_bucket.hpp"

namespace d5::detail {

/// The shards of one bucket, and this rank's shard.
struct BucketShards {
  RankCounts counts;   ///< elements by rank, padding included
  ParameterRange own;  ///< this rank's shard
  Tensor values;       ///< parameter values of the bucket, laid out like its gradients
  Tensor own_gradients, own_values;  ///< this rank's parts of both
  Tensor mine;                       ///< buffer for one of them
};

/// Cuts each bucket into one shard per rank, of whole tensors in rank order, with bytes over all
/// buckets as equal as possible.
[[nodiscard]] std::vector<BucketShards> cut_into_shards(const std::vector<Parameter>& parameters,
                                                        const std::vector<GradientBucket>& buckets,
                                                        Communicator& ranks);

/// The parameters [begin, end) of a shard in each bucket: `[bucket][rank]`.
[[nodiscard]] std::vector<std::vector<ParameterRange>> share_parameters(
    const std::vector<Parameter>& parameters, const std::vector<GradientBucket>& buckets,
    int ranks);

}  // namespace d5::detail
