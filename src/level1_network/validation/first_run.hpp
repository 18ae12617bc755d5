// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// The graph that a node runs first, as a network of its own.
struct FirstRun {
  std::string attribute;  ///< that holds the graph
  Network body;           ///< its inputs: the graph's, and what this captures
  ValueMap inputs;
};

/// Of an If the branch that it takes; of Loop, Scan and SequenceMap the first iteration. `values`
/// has what the node and its graphs read that is no parameter or constant of `network`. Nothing
/// where the node holds no graph, runs none, or is none of these.
/// Throws: Unsupported for a value whose type a network cannot declare.
[[nodiscard]] std::optional<FirstRun> first_run(const onnx::Node& node, const Network& network,
                                                const ValueMap& values);

}  // namespace d5
