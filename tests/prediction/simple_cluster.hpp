// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/prediction/networks/cluster_description.hpp"

namespace d5 {

inline constexpr double kSimpleLatency = 50e-6, kSimpleBandwidth = 1e9;
/// Tolerance of virtual times: sums of some thousand doubles in another order.
inline constexpr double kTimeRounding = 1e-9;

/// Hosts of one rank each: 50 us, 1 GB/s, no overhead.
inline ClusterDescription simple_cluster(int hosts) {
  ClusterDescription cluster;
  cluster.name = "simple";
  cluster.hosts = hosts;
  cluster.latency = {kSimpleLatency, "test"};
  cluster.bandwidth = {kSimpleBandwidth, "test"};
  return cluster;
}

/// One machine, whose ranks share memory, and send at the same pace.
inline ClusterDescription memory_cluster(int ranks) {
  ClusterDescription cluster = simple_cluster(ranks);
  cluster.topology = "memory";
  return cluster;
}

}  // namespace d5
