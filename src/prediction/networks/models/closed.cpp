// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/simulated_network.hpp"
#include "prediction/networks/event_queue.hpp"
#include "prediction/networks/host_places.hpp"

namespace d5::simulated_network {
namespace {

/// A message takes latency + bytes / bandwidth, whatever else is under way.
class ClosedNetwork final : public SimulatedNetwork {
 public:
  ClosedNetwork(const NetworkDescription& network, int ranks) : places_(network, ranks) {}

  void start(const SimulatedMessage& message, double now) override {
    const auto& path = places_.path(message.from, message.to);
    const double sent = now + static_cast<double>(message.bytes) * path.seconds_per_byte;
    events_.add(sent, {message.id, What::sent, sent});
    events_.add(sent + path.latency, {message.id, What::arrived, sent + path.latency});
  }

  bool advance(double limit, std::vector<Change>& changes) override {
    if (events_.empty() || events_.time() > limit) return false;
    changes.assign(1, events_.take());
    return true;
  }

 private:
  detail::HostPlaces places_;
  detail::EventQueue<Change> events_;
};

}  // namespace

void register_closed(Registry<SimulatedNetworkEntry>& registry) {
  registry.add("closed", SimulatedNetworkEntry::of<ClosedNetwork>(
                             "latency + bytes / bandwidth for each message, no contention"));
}

}  // namespace d5::simulated_network
