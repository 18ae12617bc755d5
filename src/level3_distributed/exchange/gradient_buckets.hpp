// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "d5/level1_network/network.hpp"

namespace d5::detail {

/// Neighbours in the gradient arena that travel together.
struct GradientBucket {
  std::size_t begin, end;  ///< parameters [begin, end) of the network
  Tensor data;             ///< their gradients as one 1-D tensor, padding between them included
};

/// Cuts the gradients, in the order of `parameters`, into buckets of at least `least_bytes` (the
/// last may be smaller). Gradients of different types, or apart in memory, never share one.
[[nodiscard]] std::vector<GradientBucket> make_gradient_buckets(
    const std::vector<Parameter>& parameters, std::size_t least_bytes);

}  // namespace d5::detail
