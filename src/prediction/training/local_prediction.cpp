// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/local_prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/prediction/prediction_timeline.hpp"

namespace d5 {
namespace {

constexpr int kSteps = 41;

/// For a rank alone, which sends nothing.
NetworkDescription no_network() {
  NetworkDescription network;
  network.name = "none";
  network.bandwidth.value = 1;
  return network;
}

NetworkDescription network_of(const LocalRanks& here, int ranks) {
  return ranks == 1 ? no_network() : here.network(ranks);
}

void add_reason(PredictedPoint& point, const std::string& reason) {
  if (reason.empty()) return;
  point.mistrusted += (point.mistrusted.empty() ? "" : "; ") + reason;
}

}  // namespace

PredictedCurve predict_here(const LocalRanks& here, const ScalingPredictionOptions& options) {
  PredictedCurve curve;
  for (const int ranks : options.ranks) {
    ScalingPredictionOptions one = options;
    one.ranks = {ranks};
    one.training.draws_steps = true;  // few ranks, whose steps are known one by one
    one.training.steps = std::max(one.training.steps, kSteps);
    const TrainingProfile profile = here.profile(ranks);
    const NetworkDescription network = network_of(here, ranks);
    curve.points.push_back(predict_scaling(profile, network, one).front());
    add_reason(curve.points.back(), fmt::format("{}", fmt::join(profile.mistrusted, "; ")));
    curve.model = profile.model;
    curve.framework = profile.framework;
    curve.device = profile.device;
    if (ranks > 1) curve.network = network.name;
    if (options.interrupt.due()) break;
  }
  set_efficiencies(curve.points);
  for (PredictedPoint& point : curve.points) {
    if (!here.steps || options.interrupt.due()) break;
    point.measured = here.steps(point.ranks);
  }
  return curve;
}

Timeline timeline_here(const LocalRanks& here, const ScalingPredictionOptions& options) {
  if (options.ranks.empty()) throw ValueError("a timeline of no ranks; expected 1 or more");
  const int ranks = *std::ranges::max_element(options.ranks);
  SimulatedTrainingOptions training = options.training;
  training.batch = batch_of_rank(options, ranks);
  const TrainingProfile profile = here.profile(ranks);
  const NetworkDescription network = network_of(here, ranks);
  return measured_above_predicted(here.timeline(ranks),
                                  predicted_timeline(profile, ranks, network, training));
}

}  // namespace d5
