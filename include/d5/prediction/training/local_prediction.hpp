// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/trace/timeline.hpp"
#include "d5/prediction/training/predicted_curve.hpp"

namespace d5 {

/// Functions that start a number of ranks on this machine and measure them: profiles of single
/// copies and the cluster for the prediction, and trainings to compare with it.
struct LocalRanks {
  /// The profile of concurrent copies in one launch; launches count from 1.
  std::function<TrainingProfile(int copies, int launch)> profile;
  std::function<ClusterDescription(int)> cluster;  ///< by number of ranks
  /// Times of training steps in one launch, in s. Empty: not measured.
  std::function<std::vector<double>(int ranks, int launch)> steps;
  std::function<Timeline(int)> timeline;  ///< timeline of a few more steps, with spans "step"
  /// Launches for each number of ranks. With several launches the median of each is one sample,
  /// because processes differ more than steps; with one launch each step is a sample.
  int launches = 1;
};

/// Number of steps in each launch if all launches together train `steps`: at least three.
[[nodiscard]] std::int64_t steps_of_launch(std::int64_t steps, int launches);

/// The joined profile of all launches (`joined_launches`). An interrupt after the first launch
/// keeps those measured so far and marks the profile as mistrusted.
/// Throws: as `joined_launches`; exceptions of `here`.
[[nodiscard]] TrainingProfile profile_here(const LocalRanks& here, int copies,
                                           const Interrupt& interrupt = {});

/// Predicts the scaling curve of this machine's ranks and measures it. Profiled and measured
/// launches alternate, because the machine's speed varies over time. The prediction uses profiles
/// and clusters only, never the measured steps. An interrupt after the first launch keeps a point
/// of the launches measured so far and marks it as mistrusted.
///
///     auto curve = predict_here(launched_ranks(commands), {.ranks = {1, 2}});
///
/// Throws: as `predict_scaling`, `joined_launches`; exceptions of `here`.
[[nodiscard]] PredictedCurve predict_here(const LocalRanks& here,
                                          const ScalingPredictionOptions& options);

/// A step on the largest number of ranks, measured above predicted (`measured_above_predicted`).
/// Throws: as `predicted_timeline`; exceptions of `here`.
[[nodiscard]] Timeline timeline_here(const LocalRanks& here,
                                     const ScalingPredictionOptions& options);

/// Commands of d5 for `launched_ranks`. It appends "--launch-file FILE" to `profile`, "--out FILE"
/// to the others, and for a timeline "--trace FILE" to `measure`.
struct LocalCommands {
  std::vector<std::string> profile, calibrate, measure;
  /// Folder that keeps profiles and clusters, by the names below and the number of ranks, for
  /// reuse; empty: none.
  std::string keep = {};
  std::string profile_name = "training", cluster_name = "this machine";
  /// Launches of `profile` and `measure` for each number of ranks. Source: Kalibera and Jones,
  /// "Rigorous Benchmarking in Reasonable Time" (ISMM 2013).
  int launches = 1;
  int threads = 0;                 ///< required of a kept profile; 0: any
  Misfit misfit = Misfit::refuse;  ///< reaction to a kept profile that does not fit
  /// Receives progress messages: "profile of 2 copies, launch 1 of 6".
  std::function<void(const std::string&)> say = {};
};
/// `LocalRanks` that start these commands.
/// Throws: NotFound without mpirun; ValueError if a command refuses its words, or a kept profile is
/// from another machine or number of threads; CommunicationError if a command fails; Interrupted.
[[nodiscard]] LocalRanks launched_ranks(const LocalCommands& commands,
                                        const Interrupt& interrupt = {});

}  // namespace d5
