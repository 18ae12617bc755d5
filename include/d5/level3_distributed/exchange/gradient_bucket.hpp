// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Adjacent gradients in the gradient arena that are communicated as one message.
struct GradientBucket {
  std::size_t index = 0;           ///< order in which backpropagation finishes the buckets
  std::size_t begin = 0, end = 0;  ///< parameters [begin, end) of the network
  Tensor data;  ///< their gradients as one 1-D tensor, padding between them included
};

/// Minimum sizes of buckets. Units: bytes.
struct BucketSizes {
  std::size_t least = std::size_t{4} << 20;
  /// Size of the first bucket, which begins the exchange, and of the last, which no computation
  /// hides; 0: `least`.
  std::size_t first = 0, last = 0;
};

/// Cuts the gradients, in the order of `parameters`, into buckets of at least these sizes; the one
/// at the end may be smaller. Gradients of different types, or not adjacent in memory, never share
/// a bucket.
[[nodiscard]] std::vector<GradientBucket> cut_into_buckets(const std::vector<Parameter>& parameters,
                                                           const BucketSizes& sizes = {});

}  // namespace d5
