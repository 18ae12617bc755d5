// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/topology.hpp"

namespace d5 {
namespace {

MixingMatrix complete(int ranks) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i < ranks; ++i) {
    for (int j = i + 1; j < ranks; ++j) edges.emplace_back(i, j);
  }
  return MixingMatrix::metropolis(ranks, edges);
}

}  // namespace

namespace topology {

void register_complete(Registry<TopologyEntry>& registry) {
  registry.add("complete", TopologyEntry("complete graph: all ranks are neighbours", complete));
}

}  // namespace topology
}  // namespace d5
