// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/topology.hpp"

namespace d5 {
namespace {

MixingMatrix exponential(int ranks) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i < ranks; ++i) {
    for (int distance = 1; distance < ranks; distance *= 2) {
      edges.emplace_back(i, (i + distance) % ranks);
    }
  }
  return MixingMatrix::metropolis(ranks, edges);
}

}  // namespace

namespace topology {

void register_exponential(Registry<TopologyEntry>& registry) {
  registry.add(
      "exponential",
      TopologyEntry("neighbours at distances 1, 2, 4, ... in both directions", exponential));
}

}  // namespace topology
}  // namespace d5
