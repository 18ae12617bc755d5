// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/trace/timeline.hpp"
#include "d5/prediction/networks/network_description.hpp"
#include "d5/prediction/profile/training_profile.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "d5/prediction/training_graphs/graph_training.hpp"

namespace d5 {

/// A strategy's change of a training's graph.
struct TrainingRewrite {
  GraphRewrite change;
  /// Whether the options' scheme does the same, so that it can be simulated as well.
  bool is_scheme = false;
};

struct SimulatedTrainingOptions {
  std::int64_t batch = 1;  ///< of each rank
  /// Of `distributed_optimizers()`: it runs as it is, with its buckets, order and collectives.
  EntryChoice scheme{"consistent_decentralized", {{"all_reduce", "ring"}}};
  int steps = 4;  ///< the first of which is left out of every number
  /// Each step of each rank is as much longer or shorter than the usual one as one of the profile's
  /// is, drawn for it: ranks wait for the slowest. A step is then the median of all.
  bool draws_steps = false;
  double compute_factor = 1;          ///< on the profile's times: 0.5 is a machine twice as fast
  SimulationOptions simulation = {};  ///< rates of 0 are the profile's
  /// In their order. Where one is done by no scheme, the training's graph is scheduled, with closed
  /// forms, and no rank is simulated.
  std::vector<TrainingRewrite> rewrites = {};
};

/// When rank 0 was where in a step. Units: s of virtual time, from the step's begin.
struct SimulatedStep {
  double backward_end = 0;  ///< of the last node
  double exchange_end = 0;  ///< when the last gradient was final; `backward_end` on one rank
  double end = 0;
};

/// What a simulated training tells of its steps, means over all but the first. Units: s.
struct SimulatedTraining {
  double step = 0;
  double computed = 0;  ///< a rank's own work in a step
  double exposed = 0;   ///< in which it waited for others: step - computed
  /// (end of last backward - start of first forward) / (end of last exchange - that start): 1 where
  /// nothing of the exchange shows. Source: PerfEstimator's alpha.
  double alpha = 1;
  std::int64_t bytes_sent = 0;       ///< by rank 0 in a step
  std::vector<SimulatedStep> steps;  ///< of rank 0, the first among them
  SimulationReport report;
};

/// A step of rank 0 as a graph, rewritten by the options' strategies. Throws: as
/// `data_parallel_graph`; Unsupported for a scheme that there is no graph of: others than
/// consistent_decentralized with the exchange dense, and none that a rewrite stands for.
[[nodiscard]] PlannedGraph planned_graph(const TrainingProfile& profile, int ranks,
                                         const NetworkDescription& network,
                                         const SimulatedTrainingOptions& options);

/// Trains `ranks` simulated ranks, each of which lets the times of `profile` pass in place of
/// computing, by a scheme that runs unmodified over simulated messages. Parameters and gradients
/// are phantom tensors, so a scheme that reads their numbers by itself cannot be simulated.
///
///     const auto profile = read_training_profile("resnet-18.json");
///     simulate_training(profile, 64, load_network_description("ethernet-10g"), {.batch =
///     16}).step;
///
/// Throws: as `step_times`, `run_simulated` and the scheme; SimulationBudget where a budget ends it
/// before the second step does (later, the report says so, and the numbers are of the steps that
/// there are); ValueError for fewer than 2 steps or a
/// factor that is not above 0.
[[nodiscard]] SimulatedTraining simulate_training(const TrainingProfile& profile, int ranks,
                                                  const NetworkDescription& network,
                                                  const SimulatedTrainingOptions& options);

}  // namespace d5
