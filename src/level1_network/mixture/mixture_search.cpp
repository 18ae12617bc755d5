// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/mixture_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "level1_network/mixture/mixture_model.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

using Samples = std::vector<double>;

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr const char* kMixture = "mixture";

/// Restores the gradients of the network's parameters, which belong to the caller; trials overwrite
/// them.
class UntouchedGradients {
 public:
  explicit UntouchedGradients(const TrialBench& bench) {
    if (!bench.goes_back()) return;
    for (Parameter& parameter : *bench.request.parameters) {
      if (!parameter.gradient.defined()) continue;
      kept_.emplace_back(parameter.gradient, parameter.gradient.copy());
    }
  }
  ~UntouchedGradients() {
    for (auto& [gradient, before] : kept_) gradient.copy_from(before);
  }
  UntouchedGradients(const UntouchedGradients&) = delete;
  UntouchedGradients& operator=(const UntouchedGradients&) = delete;

 private:
  std::vector<std::pair<Tensor, Tensor>> kept_;
};

/// Compares samples that were taken in turn.
Comparison compared(std::span<const double> a, std::span<const double> b) {
  const std::size_t pairs = std::min(a.size(), b.size());
  return compare(a.last(pairs), b.last(pairs));
}

struct TimedWay {
  std::string name;
  PlanTrial* trial;
  Samples seconds = {};
  [[nodiscard]] double median() const { return summarise(seconds).median; }
};

class Search {
 public:
  Search(const TrialBench& bench, double most_seconds)
      : bench_(bench),
        gradients_(bench),
        begin_(bench.clock()),
        end_(begin_ + most_seconds),
        progress_("auto measures", 0, {.unit = "runs"}),
        race_(bench, most_seconds / 2, progress_) {}

  ChosenPlan run() {
    race_.run();
    if (race_.runners().empty()) return first_that_compiles();
    if (race_.runners().size() > 1) mix();
    const TimedWay& chosen = verify();
    ChosenPlan result{chosen.trial->assignment(), nullptr, report(chosen)};
    result.plan = chosen.trial->take_plan();
    return result;
  }

 private:
  /// Throws the errors of compiling if none does.
  ChosenPlan first_that_compiles() {
    ChosenPlan result;
    result.plan = compile(bench_.request, bench_.state);
    result.selection.refusals = race_.refusals();
    return result;
  }

  static std::vector<std::string> frameworks_of(const PlanTrial& trial) {
    std::vector<std::string> result;
    for (std::size_t n = 0; n < trial.nodes(); ++n) result.emplace_back(trial.info(n).framework);
    return result;
  }

  void mix() {
    constexpr int kMostMixtures = 6;
    MixtureModel model(race_, bench_);
    std::vector<std::vector<std::string>> seen;
    for (const auto& runner : race_.runners()) seen.push_back(frameworks_of(*runner.trial));
    while (mixtures_.size() < kMostMixtures && (mixtures_.empty() || bench_.clock() < end_)) {
      const auto frameworks = model.cheapest();
      if (std::ranges::find(seen, frameworks) != seen.end()) return;
      seen.push_back(frameworks);
      progress_.note(fmt::format("mixture {}", mixtures_.size() + 1));
      auto trial = trial_of(frameworks);
      if (!trial) return;
      model.learn(frameworks, node_seconds(*trial));
      mixtures_.push_back(std::move(trial));
      progress_.advance();
    }
  }

  /// Null after a failure.
  std::unique_ptr<PlanTrial> trial_of(const std::vector<std::string>& frameworks) {
    const auto& fastest = race_.runners().front();
    KernelAssignment assignment{.first = fastest.framework};
    for (std::size_t n = 0; n < frameworks.size(); ++n) {
      if (frameworks[n].empty()) continue;
      assignment.kernels[first_output(fastest.trial->info(n).node)] = frameworks[n];
    }
    try {
      auto trial = std::make_unique<PlanTrial>(bench_, std::move(assignment));
      return race_.try_out(*trial, kMixture) ? std::move(trial) : nullptr;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {  // no memory for it, say
      return nullptr;
    }
  }

  /// Medians, of each node.
  std::vector<double> node_seconds(PlanTrial& trial) {
    constexpr int kRounds = 5;
    std::vector<Samples> samples(trial.nodes());
    for (int round = 0; round < kRounds; ++round) {
      trial.settle();
      trial.time_nodes(kForever);
      for (std::size_t n = 0; n < samples.size(); ++n) samples[n].push_back(*trial.seconds(n));
    }
    std::vector<double> medians;
    for (const Samples& of_node : samples) medians.push_back(summarise(of_node).median);
    return medians;
  }

  /// The whole, in turn.
  const TimedWay& verify() {
    constexpr int kSamples = 21, kFewest = 6;
    for (auto& runner : race_.runners()) {
      ways_.push_back({runner.lightened ? kMixture : runner.framework, runner.trial.get()});
    }
    for (auto& mixture : mixtures_) ways_.push_back({kMixture, mixture.get()});
    if (ways_.size() == 1) return ways_.front();
    const double end = bench_.clock() + std::max(0.0, end_ - bench_.clock()) / 2;
    double fastest = kForever;
    for (const TimedWay& way : ways_) fastest = std::min(fastest, way.trial->total_seconds());
    const Turns turns = turns_for(kSamples, fastest);
    const int fewest = turns_for(kFewest, fastest).rounds;
    for (int round = 0; round < turns.rounds && (round < fewest || bench_.clock() < end); ++round) {
      progress_.note(fmt::format("the whole, round {}", round + 1));
      for (std::size_t i = 0; i < ways_.size(); ++i) {
        TimedWay& way = ways_[(i + std::size_t(round)) % ways_.size()];
        way.trial->settle();
        for (int k = 0; k < turns.samples; ++k) way.seconds.push_back(way.trial->time_whole());
      }
      progress_.advance();
      if (round + 1 == fewest) drop_slow();
    }
    std::ranges::stable_sort(ways_, {}, &TimedWay::median);
    const auto single = std::ranges::find_if_not(ways_, is_mixture);
    const auto mixture = std::ranges::find_if(ways_, is_mixture);
    if (mixture == ways_.end()) return *single;
    if (single == ways_.end()) return *mixture;
    const Comparison ratio = compared(mixture->seconds, single->seconds);
    return ratio.ratio_interval.high < 1 ? *mixture : *single;
  }

  static bool is_mixture(const TimedWay& way) { return way.name == kMixture; }

  /// Drops slow assignments, except the best single framework.
  void drop_slow() {
    constexpr double kSlow = 1.3;
    double fastest = kForever, fastest_single = kForever;
    for (const TimedWay& way : ways_) {
      fastest = std::min(fastest, way.median());
      if (!is_mixture(way)) fastest_single = std::min(fastest_single, way.median());
    }
    std::erase_if(ways_, [&](const TimedWay& way) {
      return way.median() > kSlow * fastest && (is_mixture(way) || way.median() > fastest_single);
    });
  }

  FrameworkSelection report(const TimedWay& chosen) {
    FrameworkSelection result{.chosen = chosen.name, .refusals = race_.refusals()};
    bool told_mixture = false;  // the best of them is enough
    for (const TimedWay& way : ways_) {
      if (way.seconds.empty() || (is_mixture(way) && std::exchange(told_mixture, true))) continue;
      result.ways.push_back({way.name, way.median(), compared(way.seconds, chosen.seconds)});
    }
    const PlanTrial& trial = *chosen.trial;
    for (std::size_t n = 0; n < trial.nodes(); ++n) {
      const StepInfo& info = trial.info(n);
      FrameworkSelection::Node& node = result.nodes.emplace_back();
      node.name = info.node.name.empty() ? first_output(info.node) : info.node.name;
      node.op_type = info.node.op_type;
      node.framework = info.framework;
      const auto known = race_.frameworks(n);
      if (std::ranges::find(known, node.framework) == known.end()) continue;
      node.seconds = race_.seconds(n, node.framework);
      node.runner_up = race_.runner_up(n, node.framework);
      if (node.runner_up.empty()) continue;
      node.ratio = compared(race_.samples(n, node.runner_up), race_.samples(n, node.framework));
    }
    result.reorders = trial.reorders();
    result.measuring_seconds = bench_.clock() - begin_;
    return result;
  }

  const TrialBench& bench_;
  UntouchedGradients gradients_;
  double begin_, end_;
  Progress progress_;
  KernelRace race_;
  std::vector<std::unique_ptr<PlanTrial>> mixtures_;
  std::vector<TimedWay> ways_;
};

}  // namespace

ChosenPlan search_mixture(const TrialBench& bench, double most_seconds) {
  return Search(bench, most_seconds).run();
}

}  // namespace d5
