// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Neighbours in the gradient arena that travel together.
struct GradientBucket {
  std::size_t index = 0;           ///< in the order in which backpropagation finishes them
  std::size_t begin = 0, end = 0;  ///< parameters [begin, end) of the network
  Tensor data;  ///< their gradients as one 1-D tensor, padding between them included
};

/// Least sizes of buckets. Units: bytes.
struct BucketSizes {
  std::size_t least = std::size_t{4} << 20;
  /// The first, which begins the exchange, and the last, which nothing hides; 0: as the others.
  std::size_t first = 0, last = 0;
};

/// Cuts the gradients, in the order of `parameters`, into buckets of at least these sizes; one that
/// reaches the end may be smaller. Gradients of different types, or apart in memory, never share
/// one.
[[nodiscard]] std::vector<GradientBucket> cut_into_buckets(const std::vector<Parameter>& parameters,
                                                           const BucketSizes& sizes = {});

}  // namespace d5
