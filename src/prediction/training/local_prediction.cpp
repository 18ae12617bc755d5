// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/local_prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/prediction/profile/profile_launches.hpp"
#include "d5/prediction/training/prediction_timeline.hpp"
#include "prediction/training/contended_pieces.hpp"

namespace d5 {
namespace {

constexpr int kStepsOfLaunch = 40;  // drawn steps per launch

/// A placeholder for a single rank, which sends nothing.
ClusterDescription no_cluster() {
  ClusterDescription cluster;
  cluster.name = "none";
  cluster.bandwidth.value = 1;
  return cluster;
}

ClusterDescription cluster_of(const LocalRanks& here, int ranks) {
  return ranks == 1 ? no_cluster() : here.cluster(ranks);
}

/// Results of all launches.
struct Launched {
  std::vector<TrainingProfile> profiles;
  std::vector<double> measured;
};

void add_measured(Launched& launched, const std::vector<double>& steps, int launches) {
  if (launches == 1) {
    launched.measured = steps;
  } else {
    launched.measured.push_back(summarise(steps).median);
  }
}

/// Profiles of all launches, each followed by measured `steps` if given. An interrupt after the
/// first launch keeps the launches before it.
Launched launched_in_turns(const LocalRanks& here, int ranks,
                           const std::function<std::vector<double>(int, int)>& steps,
                           const Interrupt& interrupt) {
  Launched launched;
  for (int launch = 1; launch <= here.launches; ++launch) {
    if (launch > 1 && interrupt.due()) break;
    try {
      TrainingProfile profile = here.profile(ranks, launch);
      if (steps) add_measured(launched, steps(ranks, launch), here.launches);
      launched.profiles.push_back(std::move(profile));
    } catch (const Interrupted&) {
      if (launched.profiles.empty()) throw;
      break;
    }
  }
  return launched;
}

TrainingProfile joined(const std::vector<TrainingProfile>& launches, int wanted) {
  TrainingProfile profile = joined_launches(launches);
  if (std::ssize(launches) < wanted) {
    profile.mistrusted.push_back(
        fmt::format("{} of {} launches: interrupted", launches.size(), wanted));
  }
  return profile;
}

}  // namespace

std::int64_t steps_of_launch(std::int64_t steps, int launches) {
  constexpr std::int64_t kLeast = 3;
  return launches == 1 ? steps : std::max(kLeast, steps / launches);
}

TrainingProfile profile_here(const LocalRanks& here, int copies, const Interrupt& interrupt) {
  return joined(launched_in_turns(here, copies, {}, interrupt).profiles, here.launches);
}

PredictedCurve predict_here(const LocalRanks& here, const ScalingPredictionOptions& options) {
  if (options.training.map) {  // before minutes are spent
    (void)detail::map_cells({.machine = machine_words(environment())}, options.training);
  }
  PredictedCurve curve;
  for (const int ranks : options.ranks) {
    ScalingPredictionOptions one = options;
    one.ranks = {ranks};
    one.training.draws_steps = true;  // few ranks with known individual steps
    one.training.steps = std::max(one.training.steps, 1 + kStepsOfLaunch * here.launches);
    const ClusterDescription cluster = cluster_of(here, ranks);
    Launched launched = launched_in_turns(here, ranks, here.steps, options.interrupt);
    const TrainingProfile profile = joined(launched.profiles, here.launches);
    curve.points.push_back(predict_scaling(profile, cluster, one).front());
    PredictedPoint& point = curve.points.back();
    point.measured = std::move(launched.measured);  // not used by the prediction
    curve.model = profile.model;
    curve.framework = profile.framework;
    curve.device = profile.device;
    if (ranks > 1) curve.cluster = cluster.name;
    if (options.interrupt.due()) break;
  }
  set_efficiencies(curve.points);
  return curve;
}

Timeline timeline_here(const LocalRanks& here, const ScalingPredictionOptions& options) {
  if (options.ranks.empty()) throw ValueError("a timeline of no ranks; expected 1 or more");
  const int ranks = *std::ranges::max_element(options.ranks);
  SimulatedTrainingOptions training = options.training;
  training.batch = batch_of_rank(options, ranks);
  const TrainingProfile profile = profile_here(here, ranks, options.interrupt);
  const ClusterDescription cluster = cluster_of(here, ranks);
  return measured_above_predicted(here.timeline(ranks),
                                  predicted_timeline(profile, ranks, cluster, training));
}

}  // namespace d5
