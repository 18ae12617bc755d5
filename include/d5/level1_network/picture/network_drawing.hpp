// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Draws a network's graph in Graphviz's language (`dot -Tpdf`). Each node is a box with its
/// operator, name, parameters and output type, below the nodes that it reads. Graphs within a node
/// are named in its box.
[[nodiscard]] std::string to_dot(const Network& network);

/// Draws a network's graph as an SVG file. Layers run from top to bottom; Sugiyama's method keeps
/// edge crossings few. Source: Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of
/// Hierarchical System Structures" (1981).
[[nodiscard]] std::string to_svg(const Network& network);

}  // namespace d5
