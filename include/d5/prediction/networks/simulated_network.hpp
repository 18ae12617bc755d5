// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/prediction/networks/network_description.hpp"

namespace d5 {

/// A message between two ranks. `id` is the caller's, of no other message under way.
struct SimulatedMessage {
  std::int64_t id = 0;
  int from = 0, to = 0;
  std::int64_t bytes = 0;
};

/// How long messages are on their way, in virtual time: what simulated ranks send over. What a
/// message costs the ranks' processors (LogP's o) is the ranks' affair, not the network's.
///
///     auto network = simulated_networks().at("ports").make(load_network_description("mine"), 8);
///     network->start({.id = 7, .from = 0, .to = 1, .bytes = 1000}, 0.5);
///     std::vector<SimulatedNetwork::Change> changes;
///     while (network->advance(1, changes)) use(changes);   // sent, then arrived
///
/// Units: seconds of virtual time, bytes. The same starts give the same times, to the bit.
class SimulatedNetwork {
 public:
  enum class What {
    sent,    ///< the sender's memory is free
    arrived  ///< the last byte is there; told after `sent`
  };
  struct Change {
    std::int64_t id = 0;
    What what = What::sent;
    double time = 0;
  };

  virtual ~SimulatedNetwork() = default;
  /// `now` is never before that of an earlier start, nor before a change that was told, nor before
  /// a limit at which nothing was.
  virtual void start(const SimulatedMessage& message, double now) = 0;
  /// Goes on to the first moment not after `limit`, which may be infinite, at which something
  /// changes, and replaces `changes` by one change or more at that moment; false: nothing does.
  virtual bool advance(double limit, std::vector<Change>& changes) = 0;
};

/// Makes one for ranks 0 to n - 1, of which consecutive ones share a host. Throws: ValueError for a
/// network with fewer places than ranks, Unsupported with the reason.
using SimulatedNetworkEntry =
    Entry<std::shared_ptr<SimulatedNetwork>(const NetworkDescription&, int ranks)>;
/// By name; src/prediction/networks/models has the built-in ones.
[[nodiscard]] Registry<SimulatedNetworkEntry>& simulated_networks();
/// A framework's own network, under the framework's name: a part of `Framework`.
class NativeNetworks : public Registry<SimulatedNetworkEntry> {
 public:
  NativeNetworks() : Registry("native network") {}
};
/// One of `simulated_networks()`, or that of the framework of this name, which is loaded. Throws:
/// NotFound; Unsupported with the reason where the framework is absent.
[[nodiscard]] const SimulatedNetworkEntry& find_simulated_network(std::string_view name);

}  // namespace d5
