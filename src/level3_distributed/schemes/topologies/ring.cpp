// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/topology.hpp"

namespace d5 {
namespace {

MixingMatrix ring(int ranks) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i < ranks; ++i) edges.emplace_back(i, (i + 1) % ranks);
  return MixingMatrix::metropolis(ranks, edges);
}

}  // namespace

namespace topology {

void register_ring(Registry<TopologyEntry>& registry) {
  registry.add("ring", TopologyEntry("neighbours are the predecessor and the successor", ring));
}

}  // namespace topology
}  // namespace d5
