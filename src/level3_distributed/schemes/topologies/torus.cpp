// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/topology.hpp"

namespace d5 {
namespace {

MixingMatrix torus(int ranks) {
  int rows = 1;
  for (int side = 1; side * side <= ranks; ++side) {
    if (ranks % side == 0) rows = side;
  }
  const int columns = ranks / rows;
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i < ranks; ++i) {
    const int row = i / columns, column = i % columns;
    edges.emplace_back(i, row * columns + (column + 1) % columns);
    edges.emplace_back(i, (row + 1) % rows * columns + column);
  }
  return MixingMatrix::metropolis(ranks, edges);
}

}  // namespace

namespace topology {

void register_torus(Registry<TopologyEntry>& registry) {
  registry.add("torus", TopologyEntry("2-D torus, as square as the number of ranks allows", torus));
}

}  // namespace topology
}  // namespace d5
