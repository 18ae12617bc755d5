// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/prediction/network_description.hpp"

namespace d5::detail {

/// Between two ranks: what the first byte takes, and each one more.
struct PathFigures {
  double latency = 0, seconds_per_byte = 0;
};

/// On which host a rank is, and what joins two of them. Throws: ValueError for too many ranks.
class HostPlaces {
 public:
  HostPlaces(const NetworkDescription& network, int ranks)
      : ranks_per_host_(static_cast<int>(network.ranks_per_host)),
        between_{network.latency.value, 1 / network.bandwidth.value} {
    if (ranks < 1 || ranks > network.most_ranks()) {
      throw ValueError(fmt::format(
          "network '{}' has places for {} ranks ({} hosts of {}), and {} were asked for; raise "
          "'hosts' in its file, or simulate fewer",
          network.name, network.most_ranks(), network.hosts, network.ranks_per_host, ranks));
    }
    const double bandwidth = network.host_bandwidth.value;
    inside_ = bandwidth > 0 ? PathFigures{network.host_latency.value, 1 / bandwidth} : between_;
    has_inside_ = bandwidth > 0;
  }

  [[nodiscard]] int host(int rank) const { return rank / ranks_per_host_; }
  [[nodiscard]] bool inside(int from, int to) const {
    return has_inside_ && host(from) == host(to);
  }
  [[nodiscard]] const PathFigures& path(int from, int to) const {
    return inside(from, to) ? inside_ : between_;
  }

 private:
  int ranks_per_host_;
  PathFigures between_, inside_;
  bool has_inside_ = false;
};

}  // namespace d5::detail
