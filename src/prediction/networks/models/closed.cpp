// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "d5/prediction/networks/simulated_network.hpp"
#include "prediction/networks/event_queue.hpp"
#include "prediction/networks/host_places.hpp"

namespace d5::simulated_network {
namespace {

/// The textbook model: a message takes latency + bytes / bandwidth after the earlier messages of
/// its own rank, without contention with other ranks.
class ClosedNetwork final : public SimulatedNetwork {
 public:
  ClosedNetwork(const ClusterDescription& cluster, int ranks)
      : places_(cluster, ranks), free_(static_cast<std::size_t>(ranks)) {}

  bool fold(int members) override {
    free_.resize(static_cast<std::size_t>(members));
    return true;
  }

  void start(const SimulatedMessage& message, double now) override {
    const auto& path = places_.path(message.from, message.to, message.bytes);
    double& free = free_[static_cast<std::size_t>(message.from)];
    const double sent =
        std::max(now, free) + static_cast<double>(message.bytes) * path.seconds_per_byte;
    free = sent;
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
  std::vector<double> free_;  // by rank: end of its earlier sends
  detail::EventQueue<Change> events_;
};

}  // namespace

void register_closed(Registry<SimulatedNetworkEntry>& registry) {
  registry.add(
      "closed",
      SimulatedNetworkEntry::of<ClosedNetwork>(
          "closed form: latency + bytes / bandwidth after the rank's own messages, no contention"));
}

}  // namespace d5::simulated_network
