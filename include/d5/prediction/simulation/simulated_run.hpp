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
#include "d5/prediction/graph/slowdown.hpp"
#include "d5/prediction/networks/cluster_description.hpp"
#include "d5/prediction/profile/rank_rates.hpp"

namespace d5 {

/// Progress of algorithms in flight: only while their rank is in a call or polls, or asynchronously
/// on a core of their own.
enum class SimulatedProgressRule { poll, thread };

/// Properties of simulated ranks, besides the cluster, and limits of the simulation. Units: bytes,
/// bytes/s.
struct SimulationOptions {
  EntryChoice model{"ports"};  ///< from `simulated_networks()`
  std::int64_t eager_bytes = std::int64_t{64} << 10;
  RankRates rates = {};  ///< rates of sums and memory copies; 0: free
  SimulatedProgressRule progress = SimulatedProgressRule::poll;
  double most_wall_seconds = 0;  ///< limit of real time; 0: none
  std::int64_t most_bytes = 0;   ///< limit of memory; 0: `memory_budget()`
  std::int64_t stack_bytes = std::int64_t{1} << 20;
  /// Simulates ranks 0 to members - 1 alone, each for all whose numbers are equal modulo `members`;
  /// 0: every rank. For code that does the same on all ranks, with peers at the same distance, as a
  /// ring. Broadcasts take no time.
  int members = 0;

  void declare(OptionList& options);
  /// Sets the limits of "30s", "2GiB" or "30s,2GiB". Throws: ValueError.
  void limit(const std::string& words);
};

/// A simulated rank, as seen by the function that runs on it. Units: seconds of virtual time.
class SimulatedRank {
 public:
  virtual ~SimulatedRank() = default;
  [[nodiscard]] virtual int rank() const = 0;
  /// The rank's clock.
  [[nodiscard]] virtual double now() const = 0;
  /// Advances the clock, as a computation would. Throws: ValueError for a negative time or NaN.
  void spend(double seconds) { spend(seconds, {}); }
  /// A computation of `seconds` alone, which takes longer while messages of this rank are under
  /// way. Messages take longer beside the computation that slows them most, whose rank has messages
  /// under way. Throws: also ValueError for a factor that is not above 0 or not finite.
  virtual void spend(double seconds, const Slowdown& slowdown) = 0;
};

/// Statistics of a simulation.
struct SimulationReport {
  double seconds = 0;                ///< virtual time until the last rank was done
  std::vector<double> rank_seconds;  ///< virtual time at the end of each rank
  std::int64_t messages = 0;
  std::int64_t largest_bytes = 0;  ///< largest message
  std::int64_t switches = 0;       ///< context switches between ranks
  std::string stopped;             ///< reason of an early stop; empty: ran to the end
  double wall_seconds = 0;         ///< real time of the simulation
};

/// Error of a simulation that exceeded its budget of time or memory too early for a result.
class SimulationBudget : public Unsupported {
  using Unsupported::Unsupported;
};

/// Error of a simulation of some `members`, whose messages do not meet: ranks are not alike.
class RanksDiffer : public Unsupported {
  using Unsupported::Unsupported;
};

/// Runs `function` on `ranks` simulated ranks, all on this thread, in virtual time. Each has a
/// communicator whose messages take the time given by the cluster. All code over communicators runs
/// unmodified, with real data or phantom tensors.
///
///     run_simulated(1024, load_cluster_description("ethernet-10g"),
///                   [](SimulatedRank& rank, const std::shared_ptr<Communicator>& ranks) {
///                     Tensor gradient = phantom_tensor({DType::float32, {25'000'000}});
///                     rank.spend(0.1);
///                     all_reduces().at("ring").make()->start(*ranks, gradient)->wait();
///                   });
///
/// A message starts when it is sent; one above `eager_bytes` only when its receive is posted too
/// (rendezvous). It then progresses by itself. Algorithms of several messages progress by
/// `SimulatedProgressRule`. The communicator's own collectives choose among d5's algorithms as Open
/// MPI 4.1 does. A receive from any rank takes the message that was sent first. Computation takes
/// no virtual time except by `spend`.
///
/// A simulation that exceeds its budget on the way returns a report of its progress.
/// Throws: the first exception of `function` in virtual time, after all other ranks have unwound;
/// CommunicationError for a deadlock, with each rank's time and calls; ValueError for fewer than 1
/// rank, or more than the cluster has room for; MemoryError if the memory budget is too small for
/// the ranks; RanksDiffer, with `members`, for ranks or networks that do not fold.
/// Thread safety: simulations may run concurrently on different threads.
SimulationReport run_simulated(
    int ranks, const ClusterDescription& cluster,
    const std::function<void(SimulatedRank& rank, const std::shared_ptr<Communicator>& ranks)>&
        function,
    const SimulationOptions& options = {});

}  // namespace d5
