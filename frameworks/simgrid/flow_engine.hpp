// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simgrid/s4u.hpp>

#include <cstdint>
#include <deque>
#include <set>
#include <unordered_map>
#include <vector>

#include "topology.hpp"

namespace d5::simgrid {

/// A message between two hosts. `id` differs from those of all messages in flight.
struct Flow {
  std::int64_t id = 0;
  std::int32_t from = 0, to = 0;
  double bytes = 0;
  double begin = 0;
};

/// Messages that arrived at one moment.
struct Arrivals {
  double time = 0;
  std::vector<std::int64_t> ids = {};
};

/// SimGrid's network of `hosts` hosts, the first ones of the topology. A process can have only one,
/// and keeps it.
///
/// Its model is CM02: a message first takes the latency of its links, and then shares their
/// bandwidth fairly, in inverse ratio to the latencies of the flows that share a link (Casanova and
/// Marchal, "A Network Model for Simulation of Grid Application", 2002). SimGrid's default
/// corrections for TCP (factors on latency and bandwidth, acknowledgement traffic, a window) are
/// off.
///
/// Links have the bandwidth of the description in each direction, and an equal share of its
/// latency: the two most distant hosts are `latency` apart. Within a host messages share nothing.
class FlowEngine {
 public:
  FlowEngine(const ClusterDescription& cluster, const Topology& topology, int hosts);
  /// `begin` must not be before that of an earlier flow.
  void start(const Flow& flow);
  /// Advances to the first arrival up to `limit`; without ids there is none.
  Arrivals advance(double limit);

 private:
  void build(const ClusterDescription& cluster, const Topology& topology, int hosts);
  void run_to(double limit);

  ::simgrid::s4u::Engine engine_;
  std::vector<::simgrid::s4u::Host*> hosts_;
  std::unordered_map<std::int64_t, ::simgrid::s4u::CommPtr> flows_;
  std::set<::simgrid::s4u::Activity*> stops_;  ///< the engine returns when it is not empty
  std::vector<std::int64_t> arrived_;          ///< since it was run
  std::deque<Arrivals> untold_;
};

}  // namespace d5::simgrid
