// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "d5/prediction/networks/simulated_network.hpp"
#include "flow_process.hpp"

namespace d5::simgrid {

/// Simulates messages as flows that share the links of a topology: see `FlowEngine`. The sender's
/// memory is free when the last byte has arrived.
class FlowNetwork final : public SimulatedNetwork {
 public:
  /// Throws: as `expect_places` and `read_topology`.
  FlowNetwork(const ClusterDescription& cluster, int ranks);
  void start(const SimulatedMessage& message, double now) override;
  bool advance(double limit, std::vector<Change>& changes) override;

 private:
  FlowNetwork(const ClusterDescription& cluster, const Topology& topology, int hosts);
  struct Path {
    double latency = 0, seconds_per_byte = 0;
  };
  /// Minimum time of a message, without other traffic.
  [[nodiscard]] double least_seconds(const Flow& flow) const;

  int ranks_per_host_;
  Path between_, inside_;
  FlowProcess process_;
  std::vector<Flow> unsent_;  ///< flows not yet sent to the process
  /// Earliest arrival time of each: before the first there is nothing to simulate.
  std::set<std::pair<double, std::int64_t>> soonest_;
  std::unordered_map<std::int64_t, double> under_way_;  ///< id to its time in `soonest_`
};

}  // namespace d5::simgrid
