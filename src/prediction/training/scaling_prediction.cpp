// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/scaling_prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/statistics/student.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/training/prediction_strategy.hpp"
#include "prediction/profile/launch_samples.hpp"
#include "prediction/training/contended_pieces.hpp"

namespace d5 {
namespace {

constexpr int kMostRanks = 1'000'000;

/// Relative interval of the step time, by the profiled size nearest to `batch`. With several
/// launches from their medians, because steps of one launch do not show the variation between
/// launches. With one launch by bootstrap: the middle 95% of means of resampled steps.
Interval resampled(const TrainingProfile& profile, std::int64_t batch) {
  constexpr int kDraws = 1000;
  TrainingProfile::Times times = detail::nearest_times(profile, batch);
  if (!times.unobserved.empty()) times.steps = times.unobserved;
  const std::vector<double>& steps = times.steps;
  if (times.launches.size() > 1) {
    std::vector<std::vector<double>> launches;
    for (const auto& launch : detail::samples_of_launches(times, profile.copies)) {
      auto& of_launch = launches.emplace_back();
      for (const std::size_t i : launch) of_launch.push_back(steps[i]);
    }
    const Estimate usual = estimate_of_groups(launches);
    return {usual.interval.low / usual.value, usual.interval.high / usual.value};
  }
  if (steps.size() < 2) return {1, 1};
  const double mean =
      std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
  std::vector<double> means;
  RandomStream random(1);
  for (int draw = 0; draw < kDraws; ++draw) {
    double sum = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) sum += steps[random.below(steps.size())];
    means.push_back(sum / static_cast<double>(steps.size()) / mean);
  }
  std::ranges::sort(means);
  return {means[kDraws * 25 / 1000], means[kDraws * 975 / 1000]};
}

constexpr double kMostSpread = 0.9;
/// Largest distance of a profile's schedule from its unobserved step; calm profiles are within
/// 0.6%.
constexpr double kMostMiss = 0.05;

/// The same cluster with messages slower by `factor`.
ClusterDescription slower(ClusterDescription cluster, double factor) {
  for (auto* time : {&cluster.latency, &cluster.host_latency, &cluster.overhead, &cluster.look,
                     &cluster.signal}) {
    time->value *= factor;
  }
  for (auto* rate : {&cluster.bandwidth, &cluster.host_bandwidth, &cluster.end_bandwidth}) {
    rate->value /= factor;
  }
  for (ClusterLevel& level : cluster.levels) level.latency *= factor;
  for (ClusterSegment& segment : cluster.segments) {
    segment.latency *= factor;
    segment.bandwidth /= factor;
  }
  return cluster;
}

/// Finds the bottleneck: the figure whose doubling would shorten the step most.
void find_bound(PredictedPoint& point, const TrainingProfile& profile,
                const ClusterDescription& cluster, const SimulatedTrainingOptions& training) {
  const auto with = [&](const EntryChoice& strategy) {
    PlannedTraining plan{training, cluster};
    apply_strategies({&strategy, 1}, plan);
    return simulate_training(profile, point.ranks, plan.cluster, plan.training).step;
  };
  const std::array<std::pair<const char*, double>, 3> steps = {{
      {"computing", with({"compute", {{"factor", 2}}})},
      {"bandwidth", with({"wire", {{"bandwidth", 2}}})},
      {"latency", with({"wire", {{"latency", 0.5}}})},
  }};
  const auto best =
      std::ranges::min_element(steps, {}, [](const auto& change) { return change.second; });
  point.bound_by = best->first;
  point.gain = point.step - best->second;
}

SimulatedTrainingOptions without_map(SimulatedTrainingOptions training) {
  training.map = nullptr;
  return training;
}

/// Samples per second of one rank, with the batch that it would have.
double throughput_alone(const TrainingProfile& profile, const ClusterDescription& cluster,
                        const ScalingPredictionOptions& options) {
  SimulatedTrainingOptions training = without_map(options.training);
  training.batch = batch_of_rank(options, 1);
  if (step_times(profile, training.batch).beyond) return std::numeric_limits<double>::quiet_NaN();
  return double(training.batch) / simulate_training(profile, 1, cluster, training).step;
}

/// The step time by closed formulas; NaN if there are none.
double closed_step(const TrainingProfile& profile, const ClusterDescription& cluster,
                   const SimulatedTrainingOptions& training, int ranks) {
  try {
    return predict_steady_step(planned_graph(profile, ranks, cluster, training)).seconds;
  } catch (const NotFound&) {
    return std::numeric_limits<double>::quiet_NaN();
  } catch (const Unsupported&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

/// The prediction with the training's overlap map.
PredictedPoint::Contended contended(const TrainingProfile& profile,
                                    const ClusterDescription& cluster,
                                    const SimulatedTrainingOptions& training, int ranks) {
  const detail::ContendedPieces pieces = detail::contended_pieces(profile, training);
  std::vector<std::string> mistrusted = pieces.mistrusted;
  const int known = training.map->ranks();
  if (ranks != known) {
    mistrusted.push_back(fmt::format("the map is of {} ranks", known));
  }
  const SimulatedTraining trained = simulate_training(profile, ranks, cluster, training);
  if (!trained.report.stopped.empty()) mistrusted.push_back(trained.report.stopped);
  return {.step = trained.step,
          .lacking = pieces.lacking,
          .mistrusted = fmt::format("{}", fmt::join(mistrusted, "; "))};
}

/// `stopped`: the reason of a simulation that its budget ended.
PredictedPoint predict(const TrainingProfile& profile, const ClusterDescription& cluster,
                       const ScalingPredictionOptions& options, int ranks, std::string& stopped) {
  PredictedPoint point;
  point.ranks = ranks;
  point.batch = batch_of_rank(options, ranks);
  SimulatedTrainingOptions training = without_map(options.training);
  training.batch = point.batch;
  const SimulatedTraining simulated = simulate_training(profile, ranks, cluster, training);
  point.step = simulated.step;
  point.alpha = simulated.alpha;
  point.computed = simulated.computed;
  point.exposed = simulated.exposed;
  point.bytes = simulated.bytes_sent;
  point.throughput = static_cast<double>(point.batch) * ranks / point.step;
  const auto mistrust = [&](const std::string& reason) {
    point.mistrusted += (point.mistrusted.empty() ? "" : "; ") + reason;
  };
  for (const std::string& reason : profile.mistrusted) mistrust(reason);
  if (step_times(profile, point.batch).beyond) {
    mistrust(fmt::format("a batch of {} is outside the profiled range", point.batch));
  }
  if (!training.by_formula &&
      !std::ranges::all_of(training.rewrites, &TrainingRewrite::is_scheme)) {
    SimulatedTrainingOptions unchanged = training;
    std::erase_if(unchanged.rewrites, std::not_fn(&TrainingRewrite::is_scheme));
    mistrust(fmt::format(
        "the strategy is predicted by the graph, whose step without it is {}: its gain is over "
        "that, not over simulated ranks",
        with_prefix(closed_step(profile, cluster, unchanged, ranks), "s")));
  }
  stopped = simulated.report.stopped;
  if (!stopped.empty()) mistrust(fmt::format("{} ({})", stopped, option_word("budget")));
  const std::string& model = training.simulation.model.name;
  const bool knows_links = !simulated_networks().find(model);
  if (ranks > 1 && !training.by_formula && !knows_links && !cluster.has_own_topology()) {
    mistrust(fmt::format("'{}' takes the topology '{}' as a star, whose links are not shared",
                         model, printable(cluster.topology)));
  }
  if (ranks > 1 && cluster.spread.value > ClusterDescription::kBusySpread) {
    mistrust(fmt::format("the cluster's calibration was {:.0f}% off where it was not fitted",
                         100 * cluster.spread.value));
  }
  const double known = cluster.calibrated_bytes.value;
  if (known > 0 && static_cast<double>(simulated.report.largest_bytes) > known) {
    mistrust(fmt::format("messages of {} bytes are larger than the largest of the calibration, {}",
                         simulated.report.largest_bytes, known));
  }
  Interval factors = resampled(profile, point.batch);
  const double unobserved = unobserved_over_scheduled(profile, point.batch);
  if (std::abs(1 / unobserved - 1) > kMostMiss) {
    mistrust(fmt::format("the profile's schedule is {:+.0f}% off its unobserved step",
                         100 * (1 / unobserved - 1)));
  }
  if (!training.draws_steps) {  // drawn steps take the unobserved time
    factors = {factors.low * std::min(1.0, unobserved), factors.high * std::max(1.0, unobserved)};
  }
  const auto at = [&](double factor, double messages) {
    SimulatedTrainingOptions other = training;
    other.compute_factor *= factor;
    return ranks == 1 ? point.step * factor
                      : simulate_training(profile, ranks, slower(cluster, messages), other).step;
  };
  const double spread = std::min(cluster.spread.value, kMostSpread);
  point.step_interval = {at(factors.low, 1 - spread), at(factors.high, 1 + spread)};
  point.baseline =
      training.by_formula ? point.step : closed_step(profile, cluster, training, ranks);
  if (ranks == 1) {
    point.bound_by = "computing";
  } else if (options.what_helps || training.by_formula) {
    find_bound(point, profile, cluster, training);
  }
  training.map = options.training.map;
  if (training.map) {
    point.contended = ranks == 1 ? PredictedPoint::Contended{.step = point.step}
                                 : contended(profile, cluster, training, ranks);
  }
  return point;
}

int number_from(std::string_view word, const std::string& words) {
  int number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  if (read.ec == std::errc() && read.ptr == word.data() + word.size() && number >= 1 &&
      number <= kMostRanks) {
    return number;
  }
  throw ValueError(fmt::format("ranks are '{}'; expected numbers of 1 to {}, as 1,2,4 or 1..128",
                               printable(words), kMostRanks));
}

}  // namespace

std::vector<int> ranks_from(const std::string& words) {
  std::vector<int> ranks;
  std::size_t begin = 0;
  while (begin <= words.size()) {
    const std::size_t end = std::min(words.find(',', begin), words.size());
    const std::string_view word = std::string_view(words).substr(begin, end - begin);
    if (const auto dots = word.find(".."); dots != std::string_view::npos) {
      const int first = number_from(word.substr(0, dots), words);
      const int last = number_from(word.substr(dots + 2), words);
      if (first > last) {
        throw ValueError(fmt::format("ranks are '{}': {} is above {}; give {}..{}",
                                     printable(words), first, last, last, first));
      }
      for (std::int64_t n = first; n < last; n *= 2) ranks.push_back(static_cast<int>(n));
      ranks.push_back(last);
    } else {
      ranks.push_back(number_from(word, words));
    }
    begin = end + 1;
  }
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

void set_efficiencies(std::vector<PredictedPoint>& points) {
  if (points.empty()) return;
  const PredictedPoint& first = points.front();
  const double alone = first.ranks == 1 ? first.throughput : 0;
  for (PredictedPoint& point : points) {
    point.efficiency = point.throughput / double(point.ranks) / (alone > 0 ? alone : point.alone);
  }
}

std::int64_t batch_of_rank(const ScalingPredictionOptions& options, int ranks) {
  const std::int64_t batch = options.training.batch;
  if (options.scaling == PredictedScaling::weak) return batch;
  if (batch % ranks == 0) return batch / ranks;
  throw ValueError(
      fmt::format("prediction: {} ranks cannot share a batch of {}; give a batch that they divide",
                  ranks, batch));
}

std::vector<PredictedPoint> predict_scaling(const TrainingProfile& profile,
                                            const ClusterDescription& cluster,
                                            const ScalingPredictionOptions& options) {
  if (options.ranks.empty()) throw ValueError("prediction: no numbers of ranks were given");
  for (const int ranks : options.ranks) {
    if (ranks < 1 || ranks > kMostRanks) {
      throw ValueError(fmt::format("prediction: {} ranks; expected 1 to {}", ranks, kMostRanks));
    }
    (void)batch_of_rank(options, ranks);
  }
  const double alone = throughput_alone(profile, cluster, options);
  std::vector<PredictedPoint> points;
  std::string reason;  // to end
  for (const int ranks : options.ranks) {
    try {
      points.push_back(predict(profile, cluster, options, ranks, reason));
      points.back().alone = alone;
    } catch (const SimulationBudget& error) {
      if (points.empty()) throw;
      reason = error.what();
      break;
    } catch (const MemoryError& error) {
      if (points.empty()) throw;
      reason = error.what();
      break;
    }
    set_efficiencies(points);
    if (options.on_point) options.on_point(points.back());
    if (!reason.empty() || options.interrupt.due()) break;
  }
  const std::span<const int> rest = std::span(options.ranks).subspan(points.size());
  if (!reason.empty() && !rest.empty() && options.on_left_out) {
    options.on_left_out(fmt::format("{} ranks: {}", fmt::join(rest, ", "), reason));
  }
  return points;
}

}  // namespace d5
