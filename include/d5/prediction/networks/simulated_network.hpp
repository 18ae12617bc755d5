// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/prediction/networks/cluster_description.hpp"

namespace d5 {

/// A message between two ranks. The caller chooses `id`, unique among the messages in flight.
struct SimulatedMessage {
  std::int64_t id = 0;
  int from = 0, to = 0;
  std::int64_t bytes = 0;
};

/// A network model: the transfer times of messages in virtual time. The CPU overhead per message
/// (LogGP's o) belongs to the simulated ranks, not to the network.
///
///     auto network = simulated_networks().at("ports").make(load_cluster_description("mine"), 8);
///     network->start({.id = 7, .from = 0, .to = 1, .bytes = 1000}, 0.5);
///     std::vector<SimulatedNetwork::Change> changes;
///     while (network->advance(1, changes)) use(changes);   // sent, later arrived
///
/// Units: seconds of virtual time, bytes. Deterministic: the same starts give the same times, to
/// the bit.
class SimulatedNetwork {
 public:
  enum class What {
    sent,    ///< the sender's memory is free
    arrived  ///< the last byte has arrived; reported after `sent`
  };
  struct Change {
    std::int64_t id = 0;
    What what = What::sent;
    double time = 0;
  };

  virtual ~SimulatedNetwork() = default;
  /// Keeps the ports of ranks 0 to members - 1 alone, each for all ranks whose numbers are equal
  /// modulo `members`: messages come from those ranks only, to any rank, and each stands for one of
  /// every rank like its sender. Called before the first start. Returns false if the network
  /// cannot.
  virtual bool fold(int members) {
    (void)members;
    return false;
  }
  /// Starts a message. `now` must not be before an earlier start, a reported change, or a limit at
  /// which `advance` found no change.
  virtual void start(const SimulatedMessage& message, double now) = 0;
  /// Advances to the first change up to `limit`, which may be infinite, and replaces `changes` by
  /// all or some of the changes at that time. Returns false if there is none.
  virtual bool advance(double limit, std::vector<Change>& changes) = 0;
};

/// Makes a model for ranks 0 to n - 1; consecutive ranks share a host. Throws: ValueError for more
/// ranks than the network has room for; Unsupported with the reason.
using SimulatedNetworkEntry =
    Entry<std::shared_ptr<SimulatedNetwork>(const ClusterDescription&, int ranks)>;
/// All models by name; src/prediction/networks/models has the built-in ones.
[[nodiscard]] Registry<SimulatedNetworkEntry>& simulated_networks();
/// A framework's own network models: a part of `Framework`.
class NativeNetworks : public Registry<SimulatedNetworkEntry> {
 public:
  NativeNetworks() : Registry("native network") {}
};
/// The model of this name in `simulated_networks()`, or that of the framework of this name, which
/// is loaded. Throws: NotFound; Unsupported with the reason if the framework is absent.
[[nodiscard]] const SimulatedNetworkEntry& find_simulated_network(std::string_view name);

}  // namespace d5
