// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/schemes/topology.hpp"

namespace d5 {
namespace {

MixingMatrix hypercube(int ranks) {
  if (!std::has_single_bit(unsigned(ranks))) {
    throw ValueError(fmt::format(
        "topology hypercube: {} ranks, expected a power of 2; take ring or exponential", ranks));
  }
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i < ranks; ++i) {
    for (int bit = 1; bit < ranks; bit *= 2) edges.emplace_back(i, i ^ bit);
  }
  return MixingMatrix::metropolis(ranks, edges);
}

}  // namespace

namespace topology {

void register_hypercube(Registry<TopologyEntry>& registry) {
  registry.add(
      "hypercube",
      TopologyEntry("neighbours differ in one bit of the rank; for a power of 2 ranks", hypercube));
}

}  // namespace topology
}  // namespace d5
