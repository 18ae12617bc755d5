// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/trace/timeline.hpp"
#include "d5/prediction/networks/cluster_description.hpp"
#include "d5/prediction/profile/contention_map.hpp"
#include "d5/prediction/profile/training_profile.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "d5/prediction/training_graphs/graph_training.hpp"

namespace d5 {

/// A strategy's rewrite of a training's graph.
struct TrainingRewrite {
  GraphRewrite change;
  /// Whether the options' scheme does the same, so that simulating the scheme suffices.
  bool is_scheme = false;
};

struct SimulatedTrainingOptions {
  std::int64_t batch = 1;  ///< per rank
  /// From `distributed_optimizers()`; it runs unmodified, with its buckets, order and collectives.
  EntryChoice scheme{"consistent_decentralized", {{"all_reduce", "ring"}}};
  int steps = 4;  ///< the first is excluded from all results
  /// Draws the relative length of each step of each rank from the profile's steps, so that ranks
  /// wait for the slowest one. The result is then the median step.
  bool draws_steps = false;
  double compute_factor = 1;  ///< factor on the profile's times: 0.5 is a machine twice as fast
  SimulationOptions simulation = {};  ///< rates of 0 are the profile's
  /// Schedules the training's graph with closed forms (`closed_cost`) and simulates no rank: any
  /// number of ranks at once, without contention.
  bool by_formula = false;
  /// Simulates every rank, also where those of one host stand for all
  /// (`SimulationOptions::members`): on more than 4 hosts (8 ranks at least), if they agree within
  /// 0.1% with every rank of 4 hosts.
  bool every_rank = false;
  /// Rewrites in order. If one has no scheme (`is_scheme`), the training's graph is scheduled with
  /// closed forms instead, and no rank is simulated.
  std::vector<TrainingRewrite> rewrites = {};
  /// Slowdowns of computation and communication that overlap; null: none.
  std::shared_ptr<const ContentionMap> map = {};
};

/// Chooses how the training's messages are timed on this cluster. `words` names a model of
/// `find_simulated_network` with its options, or "formula"
/// (`SimulatedTrainingOptions::by_formula`). Empty words choose the model that knows the topology:
/// ports for a star or memory, otherwise simgrid if it is there. Throws: NotFound, ValueError;
/// Unsupported with the reason if the model's framework is absent.
void choose_network_model(SimulatedTrainingOptions& options, const std::string& words,
                          const ClusterDescription& cluster);

/// Times of rank 0 within a step. Units: s of virtual time since the start of the step.
struct SimulatedStep {
  double backward_end = 0;  ///< end of the last node
  double exchange_end = 0;  ///< end of the last bucket's exchange; `backward_end` on one rank
  double end = 0;
};

/// Results of a simulated training: means over all steps but the first. Units: s.
struct SimulatedTraining {
  double step = 0;
  double computed = 0;  ///< a rank's own work in a step
  double exposed = 0;   ///< exposed communication: step - computed
  /// (end of last backward - start of first forward) / (end of last exchange - that start): 1 if
  /// the exchange is hidden completely. Source: PerfEstimator's alpha.
  double alpha = 1;
  std::int64_t bytes_sent = 0;       ///< by rank 0 per step
  std::vector<SimulatedStep> steps;  ///< rank 0's steps, including the first
  SimulationReport report;
};

/// The graph of rank 0's step, rewritten by the options' strategies.
/// Throws: as `data_parallel_graph`; Unsupported for a scheme other than consistent_decentralized
/// with the exchange dense, unless a rewrite stands for it.
[[nodiscard]] PlannedGraph planned_graph(const TrainingProfile& profile, int ranks,
                                         const ClusterDescription& cluster,
                                         const SimulatedTrainingOptions& options);

/// Simulates a training on `ranks` ranks. Each rank spends the times of `profile` instead of
/// computing, and the scheme runs unmodified over simulated messages. Parameters and gradients are
/// phantom tensors, so a scheme that reads their values itself cannot be simulated.
///
///     const auto profile = read_training_profile("resnet-18.json");
///     simulate_training(profile, 64, load_cluster_description("ethernet-10g"), {.batch =
///     16}).step;
///
/// If a budget ends the simulation after the second step, the report says so, and the results are
/// of the steps completed.
/// Throws: as `step_times`, `run_simulated`, `ContentionMap::cells_for` and the scheme;
/// SimulationBudget if a budget ends the
/// simulation earlier; ValueError for fewer than 2 steps or a factor that is not above 0.
[[nodiscard]] SimulatedTraining simulate_training(const TrainingProfile& profile, int ranks,
                                                  const ClusterDescription& cluster,
                                                  const SimulatedTrainingOptions& options);

}  // namespace d5
