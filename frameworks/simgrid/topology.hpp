// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "d5/prediction/networks/cluster_description.hpp"

namespace d5::simgrid {

/// Topology of a network, from `topology` and `topology_options` of its description.
///
/// | topology | options |
/// | --- | --- |
/// | star | none: each host has a link to one non-blocking switch |
/// | fat_tree | for each level, from the hosts up: ports `down`, ports `up`, `count` of links |
/// | torus | `dimensions`: number of hosts along each |
/// | dragonfly | `groups`, `chassis` per group, `routers` per chassis, each "number,links"; |
/// | | `nodes` per router |
///
/// Source: Zahavi, "D-Mod-K Routing Providing Non-Blocking Traffic for Shift Permutations on Real
/// Life Fat Trees" (2010); Faanes et al., "Cray Cascade: a Scalable HPC System based on a Dragonfly
/// Network" (SC 2012).
struct Topology {
  enum class Kind { star, fat_tree, torus, dragonfly };
  /// Level of a dragonfly: number of elements, and links between two of them.
  struct Level {
    unsigned number = 1, links = 1;
  };

  Kind kind = Kind::star;
  std::vector<unsigned> down = {}, up = {}, count = {};
  std::vector<unsigned long> dimensions = {};
  Level groups = {}, chassis = {}, routers = {};
  unsigned nodes = 1;

  std::int64_t hosts = 1;
  int longest = 2;   ///< links between the two hosts that are farthest from each other
  int shortest = 2;  ///< the same of neighbours
};

/// Throws: NotFound for an unknown topology or option; ValueError for invalid numbers, or fewer
/// hosts than the network has.
[[nodiscard]] Topology read_topology(const ClusterDescription& cluster);

}  // namespace d5::simgrid
