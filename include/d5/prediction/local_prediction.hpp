// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupt.hpp"
#include "d5/core/timeline.hpp"
#include "d5/prediction/predicted_curve.hpp"

namespace d5 {

/// Ranks of this machine: what is known of them before they train together, and what training then
/// takes. Each is asked with a number of ranks, which are started for it.
struct LocalRanks {
  std::function<TrainingProfile(int)> profile;     ///< of so many copies at once
  std::function<NetworkDescription(int)> network;  ///< between so many
  /// Of training on so many, in s: `PredictedPoint::measured`. None: unmeasured.
  std::function<std::vector<double>(int)> steps;
  std::function<Timeline(int)> timeline;  ///< of a few steps more, with spans "step"
};

/// A curve of this machine's own ranks beside what they take. Everything is predicted before
/// anything is measured.
///
///     auto curve = predict_here(launched_ranks(commands), {.ranks = {1, 2}});
///
/// Throws: as `predict_scaling`, and what `here` throws.
[[nodiscard]] PredictedCurve predict_here(const LocalRanks& here,
                                          const ScalingPredictionOptions& options);

/// A step of the most of these ranks, measured above predicted (`measured_above_predicted`).
/// Throws: as `predicted_timeline`, and what `here` throws.
[[nodiscard]] Timeline timeline_here(const LocalRanks& here,
                                     const ScalingPredictionOptions& options);

/// Commands of d5, to each of which "--out FILE" is added, and for a timeline "--trace FILE" to
/// that which measures.
struct LocalCommands {
  std::vector<std::string> profile, calibrate, measure;
  /// Profiles and networks stay in this folder, by these names and the number of ranks, and are
  /// taken from there; empty: they do not.
  std::string keep = {};
  std::string profile_name = "training", network_name = "this machine";
  /// Times that `measure` is started anew for one number of ranks: a process is some percent faster
  /// or slower than the next (Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM
  /// 2013).
  int launches = 1;
  int threads = 0;                 ///< of a profile that is taken from there; 0: any
  Misfit misfit = Misfit::refuse;  ///< of such a profile
  std::function<void(const std::string&)> say = {};  ///< what is begun: "profile of 2 copies"
};
/// Each function starts its command on as many ranks. Throws: NotFound without mpirun,
/// CommunicationError with what a command said that failed, Interrupted; ValueError for a kept
/// profile that is of another machine or number of threads.
[[nodiscard]] LocalRanks launched_ranks(const LocalCommands& commands,
                                        const Interrupt& interrupt = {});

}  // namespace d5
