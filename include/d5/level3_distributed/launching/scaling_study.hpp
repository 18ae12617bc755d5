// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level2_training/training/training_repetition.hpp"

namespace d5 {

/// One way to train a recipe: on so many ranks, by a scheme, strong or weak.
struct ScalingPoint {
  int ranks = 1;
  std::string scheme = {};   ///< "consistent_decentralized:all_reduce=ring"; empty on one rank
  std::string scaling = {};  ///< "strong" or "weak"; empty on one rank
};
/// "2 ranks, consistent_decentralized, strong"
[[nodiscard]] std::string to_string(const ScalingPoint& point);

/// Which points are measured. One rank alone is one point, whatever it is compared with.
struct ScalingGrid {
  std::vector<int> ranks = {1, 2};
  std::vector<std::string> schemes = {"consistent_decentralized"};
  std::vector<std::string> scalings = {"strong"};
};
/// Throws: ValueError for a list that is empty or has a word twice, ranks below 1, or another word
/// than strong and weak; NotFound for a scheme that there is not.
[[nodiscard]] std::vector<ScalingPoint> points_of(const ScalingGrid& grid);

/// The records of one run at a point: a process of its own, or one of several ranks.
using TrainAt =
    std::function<std::vector<Measurement>(const ScalingPoint& point, std::uint64_t seed)>;

/// Runs `command` ("d5", "train", RECIPE, ...) at a point, with --seed, --distributed and --scaling
/// of its own, under mpirun where there are several ranks. A run that leaves no results is one
/// record of "throughput", failed, with its error.
[[nodiscard]] TrainAt launched_training(std::vector<std::string> command, Interrupt interrupt = {});

struct ScalingStudyOptions {
  RepetitionOptions repetition = {.runs = 3};
  /// As in `VariantTrainingOptions`.
  std::string out = {};
  bool resume = false;
  std::string how = {};
};

/// Trains at each point from several seeds, interleaved, and joins the runs of each (`join_runs`).
/// The conditions "ranks", "distributed" and "scaling" tell the point; beside "throughput" stands
/// "efficiency": of n ranks with throughput T_n over the fewest n0 of the same scheme and scaling,
/// T_n n0 / (T_n0 n), run by run, with the interval of their mean. What ran on more ranks than this
/// machine has cores is mistrusted. Throws: as `repeat_trainings` and `ResultJournal`; what `train`
/// throws.
///
/// Source: Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems" (SC'15), for
/// what a scaling study has to tell.
[[nodiscard]] std::vector<Measurement> scaling_study(const std::vector<ScalingPoint>& points,
                                                     const TrainAt& train,
                                                     const ScalingStudyOptions& options);

/// A row a point: throughput and efficiency with their intervals, bytes that a rank sends and
/// receives in a step, and what a run reached.
[[nodiscard]] TextTable scaling_summary(const std::vector<Measurement>& records);

/// Throughput over ranks, a line a scheme and scaling, beside the line of perfect scaling from the
/// fewest ranks.
[[nodiscard]] Plot scaling_plot(const std::vector<Measurement>& records);

}  // namespace d5
