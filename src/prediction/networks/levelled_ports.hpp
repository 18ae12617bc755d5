// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "d5/prediction/networks/simulated_network.hpp"
#include "prediction/networks/event_queue.hpp"
#include "prediction/networks/host_places.hpp"

namespace d5::detail {

/// Ports of clusters with several NICs a host, links inside hosts, and levels of switches.
///
/// A message passes the ports of its way, each first in, first out: the links inside a host, or a
/// NIC, the uplinks of each level that it leaves, the downlinks of each that it enters, and a NIC.
/// The uplinks of a switch are one port of their sum: perfectly balanced. Levels without
/// oversubscription have latency alone. A message alone takes latency + bytes / the least
/// bandwidth.
class LevelledPorts final : public SimulatedNetwork {
 public:
  LevelledPorts(const ClusterDescription& cluster, int ranks);
  /// Whether the cluster has more than a port a host.
  [[nodiscard]] static bool are_needed(const ClusterDescription& cluster);

  bool fold(int members) override;
  void start(const SimulatedMessage& message, double now) override;
  bool advance(double limit, std::vector<Change>& changes) override;

 private:
  /// A kind of ports: links inside hosts, NICs out and in, uplinks and downlinks of each level.
  struct Ports {
    std::size_t first = 0, number = 0;
  };
  struct Hop {
    std::size_t port = 0;
    double seconds_per_byte = 0;
  };
  /// A message under way: its first byte reaches hop `next` at the time of its event.
  struct Flight {
    std::int64_t id = 0;
    double bytes = 0;
    std::vector<Hop> hops;
    std::size_t next = 0;
    double latency = 0;       ///< from a hop to the next
    double last_latency = 0;  ///< behind the last hop
    double tail = 0;          ///< time at which its last byte left the hop before
  };
  struct Event {
    std::size_t flight = 0;  ///< kNone: `change` is to be reported
    Change change = {};
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void lay_ports(int hosts);
  [[nodiscard]] std::size_t new_flight();
  void find_way(const SimulatedMessage& message, Flight& flight) const;
  void find_links_inside(const SimulatedMessage& message, Flight& flight) const;
  /// Passes the port of the flight's next hop, which its first byte reaches at `time`.
  void pass(std::size_t flight, double time);
  [[nodiscard]] std::size_t switch_of(std::size_t level, int host, int nic) const;
  [[nodiscard]] int nic_of(int rank) const {
    return places_.place(rank) * nics_ / places_.ranks_per_host();
  }

  HostPlaces places_;
  std::vector<ClusterLevel> levels_;
  bool rails_;
  int nics_;
  enum class Inside { by_switch, all_to_all, ring } inside_ = Inside::by_switch;
  Ports links_, out_, in_;
  std::vector<Ports> up_, down_;  ///< by level
  std::vector<double> free_;      ///< by port: time from which it is free
  std::vector<Flight> flights_;
  std::vector<std::size_t> free_flights_;
  EventQueue<Event> events_;
};

}  // namespace d5::detail
