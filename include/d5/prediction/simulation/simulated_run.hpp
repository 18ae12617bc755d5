// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/networks/network_description.hpp"
#include "d5/prediction/profile/rank_rates.hpp"

namespace d5 {

/// When algorithms that are under way go on: while their rank is inside a call or asks, or by
/// themselves, on a core of their own.
enum class SimulatedProgressRule { poll, thread };

/// What a simulated rank is, besides the network. Units: bytes, bytes a second.
struct SimulationOptions {
  EntryChoice model{"ports"};  ///< of `simulated_networks()`
  std::int64_t eager_bytes = std::int64_t{64} << 10;
  RankRates rates = {};  ///< of sums and copies; 0: they take no time
  SimulatedProgressRule progress = SimulatedProgressRule::poll;
  double most_wall_seconds = 0;  ///< of the machine's time; then it stops; 0: as long as it takes
  std::int64_t most_bytes = 0;   ///< of memory, likewise; 0: `memory_budget()`
  std::int64_t stack_bytes = std::int64_t{1} << 20;

  void declare(OptionList& options);
};

/// One simulated rank, for the function that runs on it. Units: seconds of virtual time.
class SimulatedRank {
 public:
  virtual ~SimulatedRank() = default;
  [[nodiscard]] virtual int rank() const = 0;
  /// Its clock.
  [[nodiscard]] virtual double now() const = 0;
  /// Lets time pass, as if it had computed. Throws: ValueError below 0, for NaN.
  virtual void spend(double seconds) = 0;
};

/// What a simulation tells of itself.
struct SimulationReport {
  double seconds = 0;                ///< of virtual time, until the last rank was done
  std::vector<double> rank_seconds;  ///< until each was, or as far as it came
  std::int64_t messages = 0;
  std::int64_t largest_bytes = 0;  ///< of a message
  std::int64_t switches = 0;       ///< between ranks
  std::string stopped;             ///< why it ended before its end; empty: it did not
  double wall_seconds = 0;         ///< that the simulation took
};

/// A simulation that ended before what was asked for: its time or its memory was over.
class SimulationBudget : public Unsupported {
  using Unsupported::Unsupported;
};

/// Runs `function` on `ranks` simulated ranks: each with a communicator whose messages take the
/// time that the network says, in virtual time, on this thread. Everything that works over a
/// communicator runs on it as it is, with real data or phantom tensors.
///
///     run_simulated(1024, load_network_description("ethernet-10g"),
///                   [](SimulatedRank& rank, const std::shared_ptr<Communicator>& ranks) {
///                     Tensor gradient = phantom_tensor({DType::float32, {25'000'000}});
///                     rank.spend(0.1);
///                     all_reduces().at("ring").make()->start(*ranks, gradient)->wait();
///                   });
///
/// Messages begin when they are sent, those above `eager_bytes` when their receive is posted too,
/// and then go on by themselves. Algorithms, which send several, go on by the rule of progress. The
/// communicator's own collectives choose as Open MPI 4.1 does, among d5's algorithms. A receive
/// from any rank takes the message that was sent first. What ranks compute takes no virtual time
/// but what they `spend`; a real clock tells them nothing.
///
/// Throws: what `function` throws first in virtual time, after all others have unwound;
/// CommunicationError where all ranks wait, with each one's rank, time and calls; ValueError for
/// fewer than 1 rank, or more than the network has places for; MemoryError, for more ranks than
/// the budget has memory for to begin with. One that comes to the end of a budget on its way ends
/// with a report of how far it came.
/// Thread safety: several simulations may run on threads of their own.
SimulationReport run_simulated(
    int ranks, const NetworkDescription& network,
    const std::function<void(SimulatedRank& rank, const std::shared_ptr<Communicator>& ranks)>&
        function,
    const SimulationOptions& options = {});

}  // namespace d5
