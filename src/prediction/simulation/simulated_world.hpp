// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "prediction/simulation/fiber_scheduler.hpp"
#include "prediction/simulation/library_call.hpp"
#include "prediction/simulation/message_board.hpp"
#include "prediction/simulation/simulated_computing.hpp"
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
        ranks_per_node(consecutive_on_node(description, ranks)),
        scheduler(static_cast<std::size_t>(options.stack_bytes)),
        folded(ranks, options.members > 0 ? std::min(options.members, ranks) : ranks),
        board(scheduler,
              find_simulated_network(options.model.name)
                  .make(description, ranks, options.model.settings),
              folded, options.eager_bytes),
        nodes(description, folded.members(), options.rates, scheduler, board),
        computing(nodes, folded.members(), scheduler, board),
        library_calls(static_cast<std::size_t>(folded.members())),
        all_ranks(std::make_shared<std::vector<int>>(static_cast<std::size_t>(ranks))) {
    std::iota(all_ranks->begin(), all_ranks->end(), 0);
  }

  const SimulationOptions options;
  const double overhead;              ///< CPU overhead per message at each end (LogGOPS's o); s
  const double end_seconds_per_byte;  ///< CPU overhead per byte at each end (LogGOPS's O); s
  const double look;                  ///< time of an unsuccessful poll; s
  const std::string medium;
  const int ranks_per_node;  ///< consecutive ranks on each node; 1 if nodes differ
  FiberScheduler scheduler;
  const FoldedRanks folded;
  MessageBoard board;
  SimulatedNodes nodes;
  SimulatedComputing computing;
  LibraryAlgorithms algorithms;
  /// Transport collectives in flight, by rank; they progress in every call of the rank.
  std::vector<std::vector<LibraryRequest*>> library_calls;
  const std::shared_ptr<std::vector<int>> all_ranks;  ///< 0 to n - 1

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
  static int consecutive_on_node(const ClusterDescription& cluster, int ranks) {
    if (cluster.topology == "memory") return ranks;
    const auto each = static_cast<int>(cluster.ranks_per_host);
    return cluster.placement == "by_slot" && ranks % each == 0 ? each : 1;
  }

  std::map<std::tuple<int, int, int>, int> contexts_;
  int next_context_ = 2;
};

}  // namespace d5::detail
