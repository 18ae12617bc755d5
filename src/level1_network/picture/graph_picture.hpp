// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Content of a network's drawing, independent of layout and format.
struct GraphPicture {
  enum class Kind { input, node, output };
  struct Box {
    Kind kind = Kind::node;
    std::vector<std::string> lines;  ///< the first is the most important
    std::string op_type = {};        ///< operator of a node: boxes of one operator look alike
  };
  struct Edge {
    std::size_t from = 0, to = 0;
    std::string tensor;
    bool captured = false;  ///< read by a graph within the node alone
  };
  std::vector<Box> boxes;  ///< in topological order
  std::vector<Edge> edges;
};

[[nodiscard]] GraphPicture picture_of(const Network& network);

}  // namespace d5
