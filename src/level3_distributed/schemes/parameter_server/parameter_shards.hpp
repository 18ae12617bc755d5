// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/optimization/gradient_source.hpp"

namespace d5::detail {

/// What one server keeps.
struct ParameterShard {
  ParameterRange parameters;
  Tensor values, gradients;  ///< of them, 1-D, padding between them included
};

/// Cuts the parameters into whole tensors, in their order and as equal in bytes as that allows; a
/// shard may be empty.
/// Throws: TypeError for parameters of several types, Unsupported where the gradients do not lie as
/// the values do.
[[nodiscard]] std::vector<ParameterShard> cut_into_parameter_shards(Network& network, int shards);

}  // namespace d5::detail
