// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/prediction/simulated_network.hpp"
#include "prediction/networks/event_queue.hpp"
#include "prediction/networks/host_places.hpp"
#include "prediction/networks/shared_medium.hpp"

namespace d5::simulated_network {
namespace {

/// Each host has a port out and a port in, which pass one message after the other, in the order in
/// which they come: out when a rank sends, in when the first byte arrives. Between the ports
/// nothing blocks. Ranks of one host share its ports; what they tell each other goes through ports
/// of each rank's own, in memory.
///
/// A message between idle ports takes latency + bytes / bandwidth: it passes both at once.
class PortNetwork final : public SimulatedNetwork {
 public:
  PortNetwork(const NetworkDescription& network, int ranks)
      : places_(network, ranks),
        hosts_(static_cast<std::size_t>(places_.host(ranks - 1)) + 1),
        ranks_(static_cast<std::size_t>(ranks)) {}

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
      if (event.port) {  // the first byte is at the port in
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
    Port* port = nullptr;  ///< that it comes to; null: of a change that is told
    double takes = 0;
    Change change = {};
  };

  Port& port(const SimulatedMessage& message, int rank) {
    return places_.inside(message.from, message.to)
               ? ranks_[static_cast<std::size_t>(rank)]
               : hosts_[static_cast<std::size_t>(places_.host(rank))];
  }

  detail::HostPlaces places_;
  std::vector<Port> hosts_, ranks_;
  detail::EventQueue<Event> events_;
};

}  // namespace

/// Source: Hoefler, Schneider and Lumsdaine, "LogGOPSim: Simulating Large-Scale Applications in the
/// LogGOPS Model" (LSAP 2010): L, G and the ports; o and S are the ranks' side.
void register_ports(Registry<SimulatedNetworkEntry>& registry) {
  registry.add(
      "ports",
      SimulatedNetworkEntry(
          "LogGOPS: a first-in, first-out port at each end of every message; of a network "
          "with a medium_share: what is sent shares the medium",
          [](const NetworkDescription& network, int ranks) -> std::shared_ptr<SimulatedNetwork> {
            if (network.medium_share.value > 0) {
              return detail::make_shared_medium(network, ranks);
            }
            return std::make_shared<PortNetwork>(network, ranks);
          }));
}

}  // namespace d5::simulated_network
