// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// What a drawing of a network shows, before it has places or a language.
struct GraphPicture {
  enum class Kind { input, node, output };
  struct Box {
    Kind kind = Kind::node;
    std::vector<std::string> lines;  ///< the first is the most important
    std::string op_type = {};        ///< of a node: boxes of one operator look alike
  };
  struct Edge {
    std::size_t from = 0, to = 0;
    std::string tensor;
    bool captured = false;  ///< read by a graph within the node alone
  };
  std::vector<Box> boxes;  ///< in an order in which every edge leads on
  std::vector<Edge> edges;
};

[[nodiscard]] GraphPicture picture_of(const Network& network);

}  // namespace d5
