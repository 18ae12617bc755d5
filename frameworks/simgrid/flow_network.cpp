// SPDX-License-Identifier: Apache-2.0
#include "flow_network.hpp"

namespace d5::simgrid {
namespace {

constexpr double kRounding = 1e-12;  // tolerance for sums of times, here and in SimGrid

/// Throws: ValueError.
int hosts_of(const ClusterDescription& cluster, int ranks) {
  expect_places(cluster, ranks);
  return (ranks - 1) / static_cast<int>(cluster.ranks_per_host) + 1;
}

}  // namespace

FlowNetwork::FlowNetwork(const ClusterDescription& cluster, int ranks)
    : FlowNetwork(cluster, read_topology(cluster), hosts_of(cluster, ranks)) {}

FlowNetwork::FlowNetwork(const ClusterDescription& cluster, const Topology& topology, int hosts)
    : ranks_per_host_(static_cast<int>(cluster.ranks_per_host)),
      process_(cluster, topology, hosts) {
  between_ = {cluster.latency.value * topology.shortest / topology.longest,
              1 / cluster.bandwidth.value};
  inside_ = cluster.host_bandwidth.value > 0
                ? Path{cluster.host_latency.value, 1 / cluster.host_bandwidth.value}
                : Path{cluster.latency.value, 1 / cluster.bandwidth.value};
}

double FlowNetwork::least_seconds(const Flow& flow) const {
  const Path& path = flow.from == flow.to ? inside_ : between_;
  return path.latency + flow.bytes * path.seconds_per_byte;
}

void FlowNetwork::start(const SimulatedMessage& message, double now) {
  const Flow flow{message.id, message.from / ranks_per_host_, message.to / ranks_per_host_,
                  static_cast<double>(message.bytes), now};
  unsent_.push_back(flow);
  const double soonest = (now + least_seconds(flow)) * (1 - kRounding);
  under_way_[flow.id] = soonest;
  soonest_.insert({soonest, flow.id});
}

bool FlowNetwork::advance(double limit, std::vector<Change>& changes) {
  if (soonest_.empty() || soonest_.begin()->first > limit) return false;
  const Arrivals arrivals = process_.ask(unsent_, limit);
  unsent_.clear();
  if (arrivals.ids.empty()) return false;
  changes.clear();
  for (const auto id : arrivals.ids) {
    const auto place = under_way_.find(id);
    soonest_.erase({place->second, id});
    under_way_.erase(place);
    changes.push_back({id, What::sent, arrivals.time});
    changes.push_back({id, What::arrived, arrivals.time});
  }
  return true;
}

}  // namespace d5::simgrid
