// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/optimization/gradient_source.hpp"

namespace d5::detail {

/// The parameters of one server.
struct ParameterShard {
  ParameterRange parameters;
  Tensor values, gradients;  ///< 1-D, padding included
};

/// Cuts the parameters into shards of whole tensors, in order, with bytes as equal as possible; a
/// shard may be empty.
/// Throws: TypeError for parameters of several types, Unsupported if gradients and values have
/// different layouts.
[[nodiscard]] std::vector<ParameterShard> cut_into_parameter_shards(Network& network, int shards);

}  // namespace d5::detail
