// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// The graph that a node runs first, as a network.
struct FirstRun {
  std::string attribute;  ///< attribute that holds the graph
  Network body;           ///< its inputs: the graph's, and what this captures
  ValueMap inputs;
};

/// The branch that an If takes; the first iteration of Loop, Scan and SequenceMap. `values` must
/// have the inputs of the node and its graphs that are not parameters or constants of `network`.
/// Empty if the node holds no graph, runs none, or is another operator.
/// Throws: Unsupported for a value whose type a network cannot declare.
[[nodiscard]] std::optional<FirstRun> first_run(const onnx::Node& node, const Network& network,
                                                const ValueMap& values);

}  // namespace d5
