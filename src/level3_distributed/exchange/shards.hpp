// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level2_training/optimization/gradient_source.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/exchange/gradient_bucket.hpp"

namespace d5::detail {

/// How the ranks share one bucket, and what of it is this rank's.
struct BucketShards {
  RankCounts counts;   ///< elements of each rank, in their order, padding included
  ParameterRange own;  ///< of this rank
  Tensor values;       ///< the parameters of the bucket, as its data are their gradients
  Tensor own_gradients, own_values;  ///< this rank's parts of both
  Tensor mine;                       ///< memory for one of them
};

/// Cuts each bucket into a shard for each rank, whole tensors in the order of ranks, so that their
/// bytes over all buckets are as equal as that allows.
[[nodiscard]] std::vector<BucketShards> cut_into_shards(const std::vector<Parameter>& parameters,
                                                        const std::vector<GradientBucket>& buckets,
                                                        Communicator& ranks);

/// The parameters [begin, end) of a shard in each bucket: `[bucket][rank]`.
[[nodiscard]] std::vector<std::vector<ParameterRange>> share_parameters(
    const std::vector<Parameter>& parameters, const std::vector<GradientBucket>& buckets,
    int ranks);

}  // namespace d5::detail
