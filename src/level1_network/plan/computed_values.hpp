// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Whether what a node computes counts as known for those that follow.
using TakesComputed = std::function<bool(const onnx::Node&, const std::vector<Value>&)>;

/// Computes, in the reference, the nodes whose inputs are the same in every run: constants, and
/// what `take` took of the nodes before. Nodes that hold graphs, draw random numbers or fail are
/// left out.
void for_each_computed(const Network& network, const TakesComputed& take);

}  // namespace d5
