// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "prediction/simulation/fiber_scheduler.hpp"
#include "prediction/simulation/library_call.hpp"
#include "prediction/simulation/message_board.hpp"
#include "prediction/simulation/simulated_nodes.hpp"

namespace d5::detail {

/// State shared by all ranks of a simulation.
class SimulatedWorld {
 public:
  SimulatedWorld(const ClusterDescription& description, int ranks, const SimulationOptions& options)
      : options(options),
        overhead(description.overhead.value),
        end_seconds_per_byte(
            description.end_bandwidth.value > 0 ? 1 / description.end_bandwidth.value : 0),
        look(description.look.value),
        medium(fmt::format("simulated {}, {} of {}s, {}B/s, {}s", description.name,
                           options.model.name, description.latency.value,
                           description.bandwidth.value, overhead)),
        scheduler(static_cast<std::size_t>(options.stack_bytes)),
        board(scheduler,
              find_simulated_network(options.model.name)
                  .make(description, ranks, options.model.settings),
              ranks, options.eager_bytes),
        nodes(description, ranks, options.rates, scheduler, board),
        library_calls(static_cast<std::size_t>(ranks)) {}

  const SimulationOptions options;
  const double overhead;              ///< CPU overhead per message at each end (LogGOPS's o); s
  const double end_seconds_per_byte;  ///< CPU overhead per byte at each end (LogGOPS's O); s
  const double look;                  ///< time of an unsuccessful poll; s
  const std::string medium;
  FiberScheduler scheduler;
  MessageBoard board;
  SimulatedNodes nodes;
  LibraryAlgorithms algorithms;
  /// Transport collectives in flight, by rank; they progress in every call of the rank.
  std::vector<std::vector<LibraryRequest*>> library_calls;

  /// The context of a color of a communicator's split, the same on all ranks of the group. The
  /// group also owns the next number.
  int context_of(int parent, int split, int color) {
    const auto [place, is_new] = contexts_.try_emplace({parent, split, color}, next_context_);
    if (is_new) next_context_ += 2;
    return place->second;
  }

  void move_library_calls_on(int rank) {
    auto& calls = library_calls[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i]->move_on();
  }

 private:
  std::map<std::tuple<int, int, int>, int> contexts_;
  int next_context_ = 2;
};

}  // namespace d5::detail
