// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// A network's graph to look at: a box a node, with its operator, name, parameters and the type of
/// what it writes; what it reads stands above it. Graphs within a node are named in its box.

/// In Graphviz's language: `dot -Tpdf`.
[[nodiscard]] std::string to_dot(const Network& network);

/// A file of its own. The layers are drawn top to bottom; where edges cross is kept low by
/// Sugiyama's method. Source: Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of
/// Hierarchical System Structures" (1981).
[[nodiscard]] std::string to_svg(const Network& network);

}  // namespace d5
