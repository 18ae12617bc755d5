// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/execution_options.hpp"
#include "apps/options.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/prediction/networks/cluster_description.hpp"
#include "d5/prediction/training/local_prediction.hpp"
#include "d5/prediction/training/simulated_training.hpp"

namespace d5::app {

struct PredictOptions : OutputOptions, RunOptions, ExecutionOptions {
  std::string model, ranks, wire, measure, map, pictures, keep, graph;
  std::string engine = {}, budget = "20s", step_budget = "90s", least_time = "2s";
  std::string scheme = "consistent_decentralized:all_reduce=ring";
  std::string optimizer = "sgd:learning_rate=1e-12";
  std::vector<std::string> clusters, strategies;
  std::int64_t batch = 0;  ///< 0: the profile's, the recipe's, or the usual one
  std::int64_t steps = 30;
  int launches = 6;
  bool strong = false, force = false, what_helps = false, every_rank = false;

  void declare(OptionList& options);
  [[nodiscard]] bool is_of_profile() const { return model.ends_with(".json"); }
  [[nodiscard]] bool is_of_trace() const { return model.ends_with(".et"); }
};
/// `measures_here` marks the processes that `--measure` starts.
void add_predict_options(CLI::App& command, PredictOptions& options, bool& measures_here);

/// The named clusters; else the modelled wire; else a built-in one.
[[nodiscard]] std::vector<ClusterDescription> clusters_of(const PredictOptions& options);
/// Numbers of ranks of clusters. Throws: ValueError.
[[nodiscard]] std::vector<int> cluster_ranks_of(const PredictOptions& options);
/// The time at which steps that are profiled or measured from now on end. Throws: ValueError.
[[nodiscard]] double step_deadline(const PredictOptions& options);
/// The training to simulate: batch, scheme, budget, and the network model if one is asked for.
/// Throws: NotFound, ValueError, Unsupported.
[[nodiscard]] SimulatedTrainingOptions training_of(const PredictOptions& options);
/// One line per strategy: name and summary.
[[nodiscard]] std::string strategies_help();
/// "buckets:bytes=1MiB,compute:factor=2"
[[nodiscard]] std::vector<EntryChoice> strategies_of(const std::string& words);
/// Commands that start this program on ranks of this machine.
[[nodiscard]] LocalCommands local_commands(const PredictOptions& options);

}  // namespace d5::app
