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

/// Ranks of this machine: what is known of them when they do not train together, and what training
/// takes. Each is asked with a number of ranks, which are started for it.
struct LocalRanks {
  /// Of so many copies at once, in one launch; launches count from 1.
  std::function<TrainingProfile(int copies, int launch)> profile;
  std::function<NetworkDescription(int)> network;  ///< between so many
  /// Steps of training on so many, in s, of one launch. None: unmeasured.
  std::function<std::vector<double>(int ranks, int launch)> steps;
  std::function<Timeline(int)> timeline;  ///< of a few steps more, with spans "step"
  /// Of each number of ranks. The median of a measured launch is one sample where there are
  /// several, since processes differ by more than their steps do; of one launch each step is.
  int launches = 1;
};

/// How many steps one of several launches trains, where all together are to train `steps`: three at
/// least. Of one launch all.
[[nodiscard]] std::int64_t steps_of_launch(std::int64_t steps, int launches);

/// The profile of all launches, `joined_launches`. An interrupt behind the first leaves those that
/// there are, mistrusted. Throws: as that, and what `here` throws.
[[nodiscard]] TrainingProfile profile_here(const LocalRanks& here, int copies,
                                           const Interrupt& interrupt = {});

/// A curve of this machine's own ranks beside what they take. The machine is slower for a while and
/// faster for a while, so that launches which are profiled and launches which are measured take
/// turns. A prediction knows profiles and networks alone, never what was measured. An interrupt
/// behind the first launch leaves a point of those that there are, mistrusted.
///
///     auto curve = predict_here(launched_ranks(commands), {.ranks = {1, 2}});
///
/// Throws: as `predict_scaling`, `joined_launches`, and what `here` throws.
[[nodiscard]] PredictedCurve predict_here(const LocalRanks& here,
                                          const ScalingPredictionOptions& options);

/// A step of the most of these ranks, measured above predicted (`measured_above_predicted`).
/// Throws: as `predicted_timeline`, and what `here` throws.
[[nodiscard]] Timeline timeline_here(const LocalRanks& here,
                                     const ScalingPredictionOptions& options);

/// Commands of d5, to which "--launch-file FILE" is added for one launch of a profile, "--out FILE"
/// to the others, and for a timeline "--trace FILE" to that which measures.
struct LocalCommands {
  std::vector<std::string> profile, calibrate, measure;
  /// Launches of profiles and networks stay in this folder, by these names and the number of ranks,
  /// and are taken from there; empty: they do not.
  std::string keep = {};
  std::string profile_name = "training", network_name = "this machine";
  /// Times that `profile` and `measure` are started anew for one number of ranks (Kalibera and
  /// Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013).
  int launches = 1;
  int threads = 0;                 ///< of a profile that is taken from there; 0: any
  Misfit misfit = Misfit::refuse;  ///< of such a profile
  /// What is begun: "profile of 2 copies, launch 1 of 6".
  std::function<void(const std::string&)> say = {};
};
/// Each function starts its command on as many ranks. Throws: NotFound without mpirun, ValueError
/// for words that a command refuses, CommunicationError for one that fails, Interrupted; ValueError
/// for a kept profile that is of another machine or number of threads.
[[nodiscard]] LocalRanks launched_ranks(const LocalCommands& commands,
                                        const Interrupt& interrupt = {});

}  // namespace d5
