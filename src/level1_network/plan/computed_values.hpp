// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Decides whether a computed value counts as known for the following nodes.
using TakesComputed = std::function<bool(const onnx::Node&, const std::vector<Value>&)>;

/// Computes, in the reference, the nodes whose inputs are the same in every run: constants, and
/// values of earlier nodes that `take` accepted. Nodes that hold graphs, draw random numbers or
/// fail are skipped.
void for_each_computed(const Network& network, const TakesComputed& take);

}  // namespace d5
