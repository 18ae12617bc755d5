// SPDX-License-Identifier: Apache-2.0
#include "prediction/networks/shared_medium.hpp"

#include <cmath>
#include <deque>
#include <vector>

#include "prediction/networks/event_queue.hpp"
#include "prediction/networks/fluid_share.hpp"
#include "prediction/networks/host_places.hpp"

namespace d5::detail {
namespace {

class SharedMedium final : public SimulatedNetwork {
 public:
  SharedMedium(const NetworkDescription& network, int ranks)
      : places_(network, ranks),
        share_(network.medium_share.value),
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
  std::vector<std::deque<SimulatedMessage>> senders_;  // the first of each is on its way
  FluidShare<SimulatedMessage> medium_;
  EventQueue<Change> arrivals_;
};

}  // namespace

std::shared_ptr<SimulatedNetwork> make_shared_medium(const NetworkDescription& network, int ranks) {
  return std::make_shared<SharedMedium>(network, ranks);
}

}  // namespace d5::detail
