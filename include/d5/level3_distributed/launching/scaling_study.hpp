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

/// One configuration of a scaling study: number of ranks, scheme, strong or weak scaling.
struct ScalingPoint {
  int ranks = 1;
  std::string scheme = {};   ///< "consistent_decentralized:all_reduce=ring"; empty on one rank
  std::string scaling = {};  ///< "strong" or "weak"; empty on one rank
};
/// "2 ranks, consistent_decentralized, strong"
[[nodiscard]] std::string to_string(const ScalingPoint& point);

/// The lists whose product are the measured points. One rank is a single point for all schemes and
/// scalings.
struct ScalingGrid {
  std::vector<int> ranks = {1, 2};
  std::vector<std::string> schemes = {"consistent_decentralized"};
  std::vector<std::string> scalings = {"strong"};
};
/// All points of a grid.
/// Throws: ValueError for a list that is empty or has duplicates, ranks below 1, or a scaling other
/// than strong and weak; NotFound for an unknown scheme.
[[nodiscard]] std::vector<ScalingPoint> points_of(const ScalingGrid& grid);

/// Runs one training at a point and returns its records.
using TrainAt =
    std::function<std::vector<Measurement>(const ScalingPoint& point, std::uint64_t seed)>;

/// Runs `command` ("d5", "train", RECIPE, ...) at a point, with --seed, --distributed and --scaling
/// appended, under mpirun for several ranks. A run without results gives one failed record of
/// "throughput" with its error.
[[nodiscard]] TrainAt launched_training(std::vector<std::string> command, Interrupt interrupt = {});

struct ScalingStudyOptions {
  RepetitionOptions repetition = {.runs = 3};
  /// The fields of `VariantTrainingOptions`.
  std::string out = {};
  bool resume = false;
  std::string how = {};
  /// Line that measures all points again, for the efficiencies' records; empty: each point's own.
  std::string command = {};
};

/// Trains at each point from several seeds, interleaved, and joins the runs of each point
/// (`join_runs`). The conditions "ranks", "distributed" and "scaling" name the point. The record
/// "efficiency" accompanies "throughput": for n ranks with throughput T_n, and n0 the fewest ranks
/// of the same scheme and scaling, it is T_n n0 / (T_n0 n), run by run, with the interval of the
/// mean. Results on more ranks than this machine has cores are marked as mistrusted.
/// Throws: as `repeat_trainings` and `ResultJournal`; exceptions of `train`.
///
/// Source: Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems" (SC'15).
[[nodiscard]] std::vector<Measurement> scaling_study(const std::vector<ScalingPoint>& points,
                                                     const TrainAt& train,
                                                     const ScalingStudyOptions& options);

/// One row per point: throughput and efficiency with their intervals, bytes that a rank sends and
/// receives per step, and the final metrics.
[[nodiscard]] TextTable scaling_summary(const std::vector<Measurement>& records);
/// The summary in `format`. For people the reasons of rows that did not pass stand below it, by
/// number. `width`: as for `TextTable::to_text`.
[[nodiscard]] std::string scaling_text(const std::vector<Measurement>& records, Format format,
                                       int width = 0);

/// Throughput over ranks, one line for each scheme and scaling, with the line of perfect scaling
/// from the fewest ranks.
[[nodiscard]] Plot scaling_plot(const std::vector<Measurement>& records);

}  // namespace d5
