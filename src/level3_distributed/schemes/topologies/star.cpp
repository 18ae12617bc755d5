// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/topology.hpp"

namespace d5 {
namespace {

MixingMatrix star(int ranks) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 1; i < ranks; ++i) edges.emplace_back(0, i);
  return MixingMatrix::metropolis(ranks, edges);
}

}  // namespace

namespace topology {

void register_star(Registry<TopologyEntry>& registry) {
  registry.add("star", TopologyEntry("rank 0 is the only neighbour of all other ranks", star));
}

}  // namespace topology
}  // namespace d5
