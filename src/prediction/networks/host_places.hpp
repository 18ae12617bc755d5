// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/prediction/networks/cluster_description.hpp"

namespace d5::detail {

/// Latency and time per byte between two ranks.
struct PathFigures {
  double latency = 0, seconds_per_byte = 0;
};

/// The hosts of ranks, and the paths between them. Throws: ValueError for too many ranks.
class HostPlaces {
 public:
  HostPlaces(const ClusterDescription& cluster, int ranks)
      : ranks_per_host_(static_cast<int>(cluster.ranks_per_host)),
        used_hosts_((ranks + ranks_per_host_ - 1) / ranks_per_host_),
        by_slot_(cluster.placement == "by_slot"),
        between_{cluster.latency.value, 1 / cluster.bandwidth.value} {
    for (const ClusterSegment& segment : cluster.segments) {
      larger_.push_back({segment.bytes, {segment.latency, 1 / segment.bandwidth}});
    }
    expect_places(cluster, ranks);
    const double bandwidth = cluster.host_bandwidth.value;
    inside_ = bandwidth > 0 ? PathFigures{cluster.host_latency.value, 1 / bandwidth} : between_;
    has_inside_ = bandwidth > 0;
  }

  [[nodiscard]] int ranks_per_host() const { return ranks_per_host_; }
  [[nodiscard]] int hosts() const { return used_hosts_; }
  [[nodiscard]] bool by_slot() const { return by_slot_; }
  [[nodiscard]] int host(int rank) const {
    return by_slot_ ? rank / ranks_per_host_ : rank % used_hosts_;
  }
  /// The rank's place on its host, from 0.
  [[nodiscard]] int place(int rank) const {
    return by_slot_ ? rank % ranks_per_host_ : rank / used_hosts_;
  }
  [[nodiscard]] bool inside(int from, int to) const {
    return has_inside_ && host(from) == host(to);
  }
  [[nodiscard]] const PathFigures& path(int from, int to, std::int64_t bytes) const {
    return inside(from, to) ? inside_ : between(bytes);
  }
  /// The path between two hosts.
  [[nodiscard]] const PathFigures& between(std::int64_t bytes) const {
    const PathFigures* found = &between_;
    for (const Larger& segment : larger_) {
      if (bytes >= segment.bytes) found = &segment.figures;
    }
    return *found;
  }

 private:
  struct Larger {  // messages from this size on
    std::int64_t bytes;
    PathFigures figures;
  };
  int ranks_per_host_, used_hosts_;
  bool by_slot_;
  PathFigures between_, inside_;
  std::vector<Larger> larger_;
  bool has_inside_ = false;
};

}  // namespace d5::detail
