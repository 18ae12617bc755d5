// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/simulated_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "core/tensor/watched_phantoms.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/simulation/timed_optimizer.hpp"
#include "prediction/profile/launch_samples.hpp"
#include "prediction/training/alike_ranks.hpp"
#include "prediction/training/contended_pieces.hpp"
#include "prediction/training/scheduled_training.hpp"

namespace d5 {
namespace {

/// Everything that runs before a gradient is final counts as its backward time; loading, which is
/// not hidden, counts as forward.
TimedStep timed_step(const TrainingProfile& profile, const SimulatedTrainingOptions& options) {
  const double factor = options.compute_factor;
  const StepTimes times = step_times(profile, options.batch);
  auto slowdowns = detail::contended_pieces(profile, options).slowdowns;
  if (detail::simulates_waits(options)) {
    for (Slowdown& slowdown : slowdowns) slowdown.all_reduce = 1;
  }
  TimedStep step;
  std::map<std::string, std::size_t> places;
  for (const auto& parameter : profile.parameters) {
    places[parameter.name] = step.gradients.size();
    step.gradients.push_back(
        {.parameter = parameter.name,
         .elements = std::max<std::int64_t>(1, std::llround(parameter.bytes / 4))});
  }
  double forward = 0, since = 0;  // since the last gradient
  detail::JoinedSlowdown slow_forward, slow_since;
  for (std::size_t i = 0; i < profile.pieces.size(); ++i) {
    const TrainingProfile::Piece& piece = profile.pieces[i];
    const double seconds = factor * (times.seconds[i] + times.gaps[i]);
    const auto add_to = [&](detail::JoinedSlowdown& joined) {
      joined.add(times.gaps[i], {});
      joined.add(times.seconds[i], slowdowns[i]);
    };
    const auto place = places.find(piece.name);
    if (piece.kind == "update" && place != places.end()) {
      step.gradients[place->second].update += seconds;
      detail::JoinedSlowdown joined;
      add_to(joined);
      step.gradients[place->second].update_slowdown = joined.joined();
      continue;
    }
    const bool is_backward = piece.kind == "backward" || piece.kind == "update";
    (is_backward ? since : forward) += seconds;
    add_to(is_backward ? slow_since : slow_forward);
    for (const std::size_t index : piece.final_parameters) {
      step.gradients.at(index).backward += since;
      step.gradients.at(index).backward_slowdown = slow_since.joined();
      since = 0;
      slow_since = {};
    }
  }
  step.forward = forward;
  step.rest = since;
  step.forward_slowdown = slow_forward.joined();
  step.rest_slowdown = slow_since.joined();
  return step;
}

/// The rates in the options, or else the profile's, scaled by the compute factor.
RankRates rates_of(const TrainingProfile& profile, const SimulatedTrainingOptions& options) {
  const auto rate = [&](double RankRates::* which) {
    const double asked = options.simulation.rates.*which;
    return asked > 0 ? asked : profile.rates.*which / options.compute_factor;
  };
  return {.reduce_bandwidth = rate(&RankRates::reduce_bandwidth),
          .scale_bandwidth = rate(&RankRates::scale_bandwidth),
          .copy_bandwidth = rate(&RankRates::copy_bandwidth),
          .shared_bandwidth = rate(&RankRates::shared_bandwidth),
          .shared_reduce_bandwidth = rate(&RankRates::shared_reduce_bandwidth),
          .ranks = profile.rates.ranks,
          .alone = profile.rates.alone};
}

/// The profile's steps relative to the typical one, by launch, in order of copies.
std::vector<std::vector<double>> factors_of(const TrainingProfile& profile, std::int64_t batch) {
  TrainingProfile::Times times = detail::nearest_times(profile, batch);
  if (!times.unobserved.empty()) times.steps = times.unobserved;
  const double usual = step_times(profile, times.batch).step;
  std::vector<std::vector<double>> factors;
  for (const auto& launch : detail::samples_of_launches(times, profile.copies)) {
    auto& of_launch = factors.emplace_back();
    for (const std::size_t i : launch) of_launch.push_back(times.steps[i] / usual);
  }
  return factors;
}

/// Draws a factor for each step at random, from each launch in turn. Ranks are different copies at
/// the same step, because disturbances often slow all copies at once.
std::vector<double> drawn(const std::vector<std::vector<double>>& factors, int copies, int steps,
                          int rank) {
  RandomStream random(static_cast<std::uint64_t>(rank / copies) + 1);
  std::vector<double> result;
  for (int i = 0; i < steps; ++i) {
    const auto& launch = factors[static_cast<std::size_t>(i) % factors.size()];
    const std::size_t moments = launch.size() / static_cast<std::size_t>(copies);
    const std::size_t first = static_cast<std::size_t>(rank % copies) * moments;
    result.push_back(launch[first + random.below(moments)]);
  }
  return result;
}

void expect(const SimulatedTrainingOptions& options) {
  if (options.steps < 2) {
    throw ValueError(fmt::format(
        "simulated training: {} steps; expected 2 or more, because the first is left out",
        options.steps));
  }
  if (options.scheme.name.find('/') != std::string::npos) {
    throw Unsupported(fmt::format(
        "distributed optimizer '{}' communicates in its framework's own ranks, which cannot be "
        "simulated; predict one of d5's, or measure it on real ranks",
        printable(options.scheme.name)));
  }
  if (!(options.compute_factor > 0) || std::isinf(options.compute_factor)) {
    throw ValueError(fmt::format("simulated training: a compute factor of {}; expected more than 0",
                                 options.compute_factor));
  }
}

/// Records the end of backpropagation on a rank's clock.
class BackwardEnd final : public ExecutionEvent {
 public:
  explicit BackwardEnd(const SimulatedRank& rank) : rank_(rank) {}
  void after_pass(Pass pass) override {
    if (pass == Pass::backward) seconds_ = rank_.now();
  }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  const SimulatedRank& rank_;
  double seconds_ = 0;
};

/// Runs the steps of one rank.
class RankTraining {
 public:
  RankTraining(const TimedStep& times, SimulatedRank& rank,
               const std::shared_ptr<Communicator>& ranks, const EntryChoice& scheme)
      : rank_(rank),
        local_(make_timed_optimizer(rank, times)),
        backward_(std::make_shared<BackwardEnd>(rank)) {
    if (ranks->size() > 1) {
      scheme_ = find_scheme(scheme.name).make(local_, ranks, scheme.settings);
    }
    local_->executor().events().add(backward_);
    local_->read_gradients([this](ParameterRange, double) { last_gradient_ = rank_.now(); });
  }
  RankTraining(const RankTraining&) = delete;
  RankTraining& operator=(const RankTraining&) = delete;

  SimulatedStep step(const Batch& batch) {
    const Span span("training", "step");
    const double begin = rank_.now();
    (void)(scheme_ ? scheme_->step(batch) : local_->step(batch));
    const double backward = backward_->seconds() - begin;
    return {.backward_end = backward,
            .exchange_end = std::max(backward, last_gradient_ - begin),
            .end = rank_.now() - begin};
  }

 private:
  SimulatedRank& rank_;
  std::shared_ptr<ThreeStepOptimizer> local_;
  std::shared_ptr<BackwardEnd> backward_;
  std::shared_ptr<DistributedOptimizer> scheme_;
  double last_gradient_ = 0;
};

/// Steps after which a scheme repeats itself: its option `every`, or 1. The first ones are left
/// out, because first calls of algorithms take longer.
int steps_of_period(const SimulatedTrainingOptions& options) {
  std::int64_t every = 1;
  for (const Option& option : find_scheme(options.scheme.name).options()) {
    if (option.name != "every" || option.type != "integer") continue;
    every = options.scheme.settings.integer("every", std::stoll(option.initial));
  }
  return static_cast<int>(std::max<std::int64_t>(1, every));
}

/// Bytes of all tensors that a rank may join.
std::size_t phantom_bytes(const TimedStep& times) {
  double elements = 0;
  for (const auto& gradient : times.gradients) elements += double(gradient.elements);
  return std::size_t(8 * elements) + (std::size_t{1} << 20);
}

/// Means over all steps but the first `left_out`.
void sum_up(SimulatedTraining& training, std::size_t left_out, bool is_drawn) {
  const auto steps = static_cast<double>(training.steps.size() - left_out);
  double backward = 0, exchange = 0;
  std::vector<double> ends;
  for (std::size_t i = left_out; i < training.steps.size(); ++i) {
    training.step += training.steps[i].end / steps;
    ends.push_back(training.steps[i].end);
    backward += training.steps[i].backward_end;
    exchange += training.steps[i].exchange_end;
  }
  if (is_drawn && left_out == 1) training.step = summarise(ends).median;
  training.exposed = exposed_time(training.step, training.computed);
  training.alpha = exchange > 0 ? backward / exchange : 1;
}

}  // namespace

void choose_network_model(SimulatedTrainingOptions& options, const std::string& words,
                          const ClusterDescription& cluster) {
  options.by_formula = words == "formula";
  if (options.by_formula) return;
  if (!words.empty()) {
    options.simulation.model = entry_of_words("simulated network", words);
    (void)find_simulated_network(options.simulation.model.name);  // throws if there is none
    return;
  }
  options.simulation.model = {"ports"};
  if (cluster.has_own_topology()) return;
  try {
    (void)find_simulated_network("simgrid");
    options.simulation.model = {"simgrid"};
  } catch (const Unsupported&) {
    return;  // what ports predicts of other topologies is mistrusted
  }
}

SimulatedTraining detail::simulate_ranks(const TrainingProfile& profile, int ranks,
                                         const ClusterDescription& cluster,
                                         const SimulatedTrainingOptions& options) {
  const TimedStep times = timed_step(profile, options);
  SimulatedTraining training;
  training.computed = times.seconds();
  const auto factors =
      options.draws_steps ? factors_of(profile, options.batch) : std::vector<std::vector<double>>{};
  SimulationOptions simulation = options.simulation;
  simulation.rates = rates_of(profile, options);
  Batch batch = timed_batch();
  batch.global_size = batch.size * ranks;
  const int every = ranks > 1 ? steps_of_period(options) : 1;
  const int periods = (options.steps - 1 + every - 1) / every;
  const int steps = (1 + periods) * every;
  const detail::WatchedPhantoms phantoms(phantom_bytes(times));
  const auto expect_untouched = [&] {
    if (!phantoms.touched()) return;
    throw Unsupported(fmt::format(
        "distributed optimizer '{}' reads or changes the values of tensors, and simulated ranks "
        "have none; predict a scheme that only sends them, or measure this one on real ranks",
        printable(options.scheme.name)));
  };
  const auto train = [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& all) {
    TimedStep own = times;
    if (!factors.empty()) own.factors = drawn(factors, profile.copies, steps, rank.rank());
    RankTraining one(own, rank, all, options.scheme);
    std::int64_t first = 0;
    for (int i = 0; i < steps; ++i) {
      const SimulatedStep step = one.step(batch);
      if (rank.rank() != 0) continue;
      if (i == 0) expect_untouched();
      const std::int64_t sent = all->traffic().total().bytes_sent;
      if (i < every) first = sent;
      if (i >= every) training.bytes_sent = std::llround(double(sent - first) / (i + 1 - every));
      training.steps.push_back(step);
    }
  };
  try {
    training.report = run_simulated(ranks, cluster, train, simulation);
  } catch (...) {
    expect_untouched();  // numbers of nothing may have been refused
    throw;
  }
  expect_untouched();
  if (training.steps.size() <= static_cast<std::size_t>(every)) {
    throw SimulationBudget(fmt::format(
        "simulated training: {} after {} of {} steps of {} ranks, of which the first {} do "
        "not count; raise {}, simulate fewer ranks, or take {}",
        training.report.stopped, training.steps.size(), steps, ranks, every, option_word("budget"),
        option_word("model", "formula")));
  }
  sum_up(training, static_cast<std::size_t>(every), options.draws_steps);
  return training;
}

SimulatedTraining simulate_training(const TrainingProfile& profile, int ranks,
                                    const ClusterDescription& cluster,
                                    const SimulatedTrainingOptions& options) {
  expect(options);
  if (options.by_formula || !std::ranges::all_of(options.rewrites, &TrainingRewrite::is_scheme)) {
    return scheduled_training(profile, ranks, cluster, options);
  }
  const auto folded = detail::simulate_alike_ranks(profile, ranks, cluster, options);
  return folded ? *folded : detail::simulate_ranks(profile, ranks, cluster, options);
}

}  // namespace d5
