// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/prediction/networks/network_description.hpp"

namespace d5 {

inline constexpr double kSimpleLatency = 50e-6, kSimpleBandwidth = 1e9;
/// Tolerance of virtual times: sums of some thousand doubles in another order.
inline constexpr double kTimeRounding = 1e-9;

/// Hosts of one rank each: 50 us, 1 GB/s, no overhead.
inline NetworkDescription simple_network(int hosts) {
  NetworkDescription network;
  network.name = "simple";
  network.hosts = hosts;
  network.latency = {kSimpleLatency, "test"};
  network.bandwidth = {kSimpleBandwidth, "test"};
  return network;
}

/// One machine, whose ranks share memory, and send at the same pace.
inline NetworkDescription memory_network(int ranks) {
  NetworkDescription network = simple_network(ranks);
  network.topology = "memory";
  return network;
}

}  // namespace d5
