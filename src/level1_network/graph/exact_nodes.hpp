// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "d5/level1_network/graph/network.hpp"
#include "level1_network/nodes/shorter_node.hpp"

namespace d5 {

/// Nodes, named by their first outputs, that must stay in float32 because they compute with
/// integers in floating point. The integers come from a Cast, a Range or an input of the network,
/// and lead to an integer again, a comparison, or the sine of an angle, where being off by one
/// matters. A shorter type holds integers only up to 2048 (float16) or 256 (bfloat16).
[[nodiscard]] std::set<std::string> exact_nodes(const Network& network, const ElementTypes& types);

}  // namespace d5
