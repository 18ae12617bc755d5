// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <vector>

#include "d5/prediction/networks/simulated_network.hpp"
#include "prediction/networks/event_queue.hpp"
#include "prediction/networks/fluid_share.hpp"
#include "prediction/networks/host_places.hpp"
#include "prediction/networks/levelled_ports.hpp"

namespace d5::detail {
namespace {

class SharedMedium final : public SimulatedNetwork {
 public:
  SharedMedium(const ClusterDescription& cluster, int ranks)
      : places_(cluster, ranks),
        share_(cluster.medium_share.value),
        senders_(static_cast<std::size_t>(ranks)) {}

  void start(const SimulatedMessage& message, double now) override {
    auto& waiting = senders_[static_cast<std::size_t>(message.from)];
    waiting.push_back(message);
    if (waiting.size() == 1) send(message, now);
  }

  bool advance(double limit, std::vector<Change>& changes) override {
    const double sent = medium_.next();
    if (!arrivals_.empty() && arrivals_.time() <= std::min(sent, limit)) {
      changes.assign(1, arrivals_.take());
      return true;
    }
    if (std::isinf(sent) || sent > limit) return false;
    const SimulatedMessage message = medium_.take();
    changes.assign(1, {message.id, What::sent, sent});
    const double arrives = sent + places_.path(message.from, message.to, message.bytes).latency;
    arrivals_.add(arrives, {message.id, What::arrived, arrives});
    auto& waiting = senders_[static_cast<std::size_t>(message.from)];
    waiting.pop_front();
    if (!waiting.empty()) send(waiting.front(), sent);
    return true;
  }

 private:
  void send(const SimulatedMessage& message, double now) {
    const auto& path = places_.path(message.from, message.to, message.bytes);
    medium_.add(message, static_cast<double>(message.bytes) * path.seconds_per_byte, share_, now);
  }

  HostPlaces places_;
  double share_;
  std::vector<std::deque<SimulatedMessage>> senders_;  // the first of each is in flight
  FluidShare<SimulatedMessage> medium_;
  EventQueue<Change> arrivals_;
};

/// A model for ranks whose messages share one medium, such as a machine's memory. Each rank sends
/// one message after the other; messages of different ranks share the medium, of which each needs
/// `medium_share`. A message alone takes latency + bytes / bandwidth.
std::shared_ptr<SimulatedNetwork> make_shared_medium(const ClusterDescription& cluster, int ranks) {
  return std::make_shared<SharedMedium>(cluster, ranks);
}

}  // namespace
}  // namespace d5::detail

namespace d5::simulated_network {
namespace {

/// Each host has an output port and an input port, which pass messages in first-in, first-out
/// order: by send time at the output, by arrival of the first byte at the input. The network
/// between the ports does not block. Ranks of one host share its ports; messages within a host use
/// per-rank ports of its memory.
///
/// A message between idle ports takes latency + bytes / bandwidth, because it passes both
/// concurrently.
class PortNetwork final : public SimulatedNetwork {
 public:
  PortNetwork(const ClusterDescription& cluster, int ranks)
      : places_(cluster, ranks),
        hosts_(static_cast<std::size_t>(places_.hosts())),
        ranks_(static_cast<std::size_t>(ranks)) {}

  bool fold(int members) override {
    const int each = places_.ranks_per_host();
    if (members % each != 0 || (each > 1 && !places_.by_slot())) return false;
    hosts_.resize(static_cast<std::size_t>(members / each));
    ranks_.resize(static_cast<std::size_t>(members));
    return true;
  }

  void start(const SimulatedMessage& message, double now) override {
    const auto& path = places_.path(message.from, message.to, message.bytes);
    const double takes = static_cast<double>(message.bytes) * path.seconds_per_byte;
    double& free = port(message, message.from).out_free;
    const double begin = std::max(now, free);
    free = begin + takes;
    events_.add(free, {.change = {message.id, What::sent, free}});
    events_.add(begin + path.latency,
                {.port = &port(message, message.to),
                 .takes = takes,
                 .change = {message.id, What::arrived, begin + path.latency}});
  }

  bool advance(double limit, std::vector<Change>& changes) override {
    while (!events_.empty() && events_.time() <= limit) {
      const Event event = events_.take();
      if (event.port) {  // the first byte is at the input port
        double& free = event.port->in_free;
        free = std::max(event.change.time, free) + event.takes;
        events_.add(free, {.change = {event.change.id, What::arrived, free}});
        continue;
      }
      changes.assign(1, event.change);
      return true;
    }
    return false;
  }

 private:
  struct Port {
    double out_free = 0, in_free = 0;
  };
  struct Event {
    Port* port = nullptr;  ///< the input port that it reaches; null: a change to report
    double takes = 0;
    Change change = {};
  };

  Port& port(const SimulatedMessage& message, int rank) {
    const bool inside = places_.inside(message.from, message.to);
    auto& ports = inside ? ranks_ : hosts_;
    const auto place = static_cast<std::size_t>(inside ? rank : places_.host(rank));
    return ports[place < ports.size() ? place : place % ports.size()];  // folded: one like it
  }

  detail::HostPlaces places_;
  std::vector<Port> hosts_, ranks_;
  detail::EventQueue<Event> events_;
};

}  // namespace

/// Source: Hoefler, Schneider and Lumsdaine, "LogGOPSim: Simulating Large-Scale Applications in the
/// LogGOPS Model" (LSAP 2010): L, G and the ports; o and S belong to the ranks.
void register_ports(Registry<SimulatedNetworkEntry>& registry) {
  const auto make = [](const ClusterDescription& cluster,
                       int ranks) -> std::shared_ptr<SimulatedNetwork> {
    if (cluster.medium_share.value > 0) return detail::make_shared_medium(cluster, ranks);
    if (detail::LevelledPorts::are_needed(cluster)) {
      return std::make_shared<detail::LevelledPorts>(cluster, ranks);
    }
    return std::make_shared<PortNetwork>(cluster, ranks);
  };
  registry.add("ports", SimulatedNetworkEntry(
                            "LogGOPS: a first-in, first-out port at each end of every message, and "
                            "at uplinks of levels; with a medium_share, messages share a medium",
                            make));
}

}  // namespace d5::simulated_network
