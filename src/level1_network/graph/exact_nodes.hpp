// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "d5/level1_network/graph/network.hpp"
#include "level1_network/nodes/shorter_node.hpp"

namespace d5 {

/// The nodes, by their first outputs, that compute in float32 with what were integers (a Cast, a
/// Range) on the way to something that must not be off by one: integers again, a comparison, the
/// sine of an angle. With what the network is fed, too, on the way to integers. A shorter type
/// holds integers only up to 2048 (float16) or 256 (bfloat16).
[[nodiscard]] std::set<std::string> exact_nodes(const Network& network, const ElementTypes& types);

}  // namespace d5
