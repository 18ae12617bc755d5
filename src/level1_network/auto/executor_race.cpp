// SPDX-License-Identifier: Apache-2.0
#include "level1_network/auto/executor_race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "level1_network/validation/answers.hpp"

namespace d5 {
namespace {

/// Restores everything that runs overwrite.
class UntouchedNetwork {
 public:
  UntouchedNetwork(Network& network, NetworkMode mode, bool goes_back) : network_(network) {
    for (const auto& [constant, output] : graph_in_mode(network, mode).updates) {
      keep(network.fetch(constant));
      overwrites_ = true;
    }
    if (!goes_back) return;
    for (const Parameter& parameter : network.parameters()) {
      if (parameter.gradient.defined()) keep(parameter.gradient);
    }
  }
  ~UntouchedNetwork() { put_back(); }
  /// Restores the state, so that the next run begins where the first did.
  void begin_again() {
    if (overwrites_) put_back();
  }
  UntouchedNetwork(const UntouchedNetwork&) = delete;
  UntouchedNetwork& operator=(const UntouchedNetwork&) = delete;

 private:
  void keep(const Tensor& tensor) { kept_.emplace_back(tensor, tensor.copy()); }
  void put_back() {
    for (auto& [tensor, before] : kept_) tensor.copy_from(before);
    network_.values_changed();
  }
  Network& network_;
  bool overwrites_ = false;
  std::vector<std::pair<Tensor, Tensor>> kept_;
};

class UntouchedState {
 public:
  explicit UntouchedState(GraphExecutor& executor) : executor_(&executor) {
    for (const auto& [name, value] : executor.state()) {
      before_[name] = value.is_tensor() ? Value(value.tensor().copy()) : value;
    }
  }
  ~UntouchedState() {
    if (executor_ && !before_.empty()) executor_->restore(before_);
  }
  UntouchedState(UntouchedState&& other) noexcept
      : executor_(std::exchange(other.executor_, nullptr)), before_(std::move(other.before_)) {}
  UntouchedState(const UntouchedState&) = delete;
  UntouchedState& operator=(const UntouchedState&) = delete;
  UntouchedState& operator=(UntouchedState&&) = delete;

 private:
  GraphExecutor* executor_;
  ValueMap before_;
};

/// Compares the rounds that both ran.
Comparison compared(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t rounds = std::min(a.size(), b.size());
  return compare(std::span(a).first(rounds), std::span(b).first(rounds));
}

double median(const std::vector<double>& samples) { return summarise(samples).median; }

constexpr double kSampleSeconds = 5e-3;

}  // namespace

ExecutorRace::ExecutorRace(Network& network, const ValueMap& inputs, std::string loss,
                           TurnClock clock)
    : network_(network), inputs_(inputs), loss_(std::move(loss)), clock_(std::move(clock)) {}

void ExecutorRace::add(std::string name, GraphExecutor& executor) {
  runners_.push_back({std::move(name), &executor});
}

const ValueMap& ExecutorRace::run_once(Runner& runner) {
  const ValueMap& outputs = loss_.empty() ? runner.executor->inference(inputs_)
                                          : runner.executor->inference_and_backprop(inputs_, loss_);
  runner.executor->synchronise();
  return outputs;
}

double ExecutorRace::time(Runner& runner) {
  constexpr double kMostRuns = 1000;
  const int runs = int(std::clamp(std::ceil(kSampleSeconds / runner.shortest), 1.0, kMostRuns));
  const auto timed = [&] {
    const double begin = clock_();
    for (int i = 0; i < runs; ++i) (void)run_once(runner);
    const double seconds = clock_() - begin;
    runner.shortest = std::min(runner.shortest, seconds / runs);
    return seconds;
  };
  clock_.settle(runs * runner.shortest, timed);
  return timed() / runs;
}

void ExecutorRace::drop_refused() {
  for (const Runner& runner : runners_) {
    if (!runner.refusal.empty()) refusals_.push_back({runner.name, runner.refusal});
  }
  std::erase_if(runners_, [](const Runner& runner) { return !runner.refusal.empty(); });
}

void ExecutorRace::refuse_the_far_slower() {
  constexpr double kSlow = 2;
  const auto least = [](const Runner& runner) { return *std::ranges::min_element(runner.seconds); };
  const Runner& best = *std::ranges::min_element(runners_, {}, least);
  for (Runner& runner : runners_) {
    if (&runner == &runners_.front() || least(runner) < kSlow * least(best)) continue;
    runner.refusal = fmt::format("it takes {:.2g} times as long as {}",
                                 median(runner.seconds) / least(best), best.name);
  }
  drop_refused();
}

void ExecutorRace::retire_the_slower() {
  const Runner& best = leader();
  for (Runner& runner : runners_) {
    if (&runner == &best || runner.retired) continue;
    runner.retired = compared(runner.seconds, best.seconds).ratio_interval.low > 1;
  }
}

const ExecutorRace::Runner& ExecutorRace::leader() const {
  return *std::ranges::min_element(runners_, {}, [](const Runner& runner) {
    return std::pair(runner.retired, median(runner.seconds));
  });
}

void ExecutorRace::run(double most_seconds) {
  // Few looks, as each may find a false difference by chance.
  constexpr int kTrial = 2, kFewest = 6, kRounds = 24;
  const auto is_look = [](int rounds) { return rounds == 6 || rounds == 12; };
  const NetworkMode mode = runners_.front().executor->mode();
  UntouchedNetwork network(network_, mode, !loss_.empty());
  std::vector<UntouchedState> states;
  NetworkJudge judge(judged_run(mode));
  const auto judge_from = [&](std::size_t place) {
    for (std::size_t i = place; i < runners_.size(); ++i) {
      states.emplace_back(*runners_[i].executor);
      network.begin_again();
      warm_up(runners_[i], judge);
    }
    judge_draws(std::span(runners_).subspan(place), mode, [&] { network.begin_again(); });
  };
  judge_from(0);
  const std::size_t known = runners_.size();
  if (add_others_ && !runners_.front().refusal.empty()) {
    add_others_();
    judge_from(known);
  }
  drop_refused();
  if (runners_.empty()) return;
  for (Runner& runner : runners_) {
    const double seconds = time(runner);
    if (runners_.size() == 1) runner.seconds = {seconds};  // there will be no rounds
  }
  const double end = clock_() + most_seconds;
  const auto is_decided = [&] { return std::ranges::count(runners_, false, &Runner::retired) < 2; };
  for (int round = 0; round < kRounds && !is_decided(); ++round) {
    if (round >= kFewest && clock_() >= end) break;
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      Runner& runner = runners_[(i + std::size_t(round)) % runners_.size()];
      if (runner.retired) continue;
      runner.seconds.push_back(time(runner));
    }
    if (round + 1 == kTrial) refuse_the_far_slower();
    if (is_look(round + 1)) retire_the_slower();
  }
  network.begin_again();
  find_winner(judge);
}

std::vector<FrameworkSelection::Way> ExecutorRace::ways() const {
  const auto winner = std::ranges::find(runners_, winner_, &Runner::name);
  std::vector<FrameworkSelection::Way> result;
  for (const Runner& runner : runners_) {
    result.push_back(
        {runner.name, median(runner.seconds), compared(runner.seconds, winner->seconds)});
  }
  std::ranges::stable_sort(result, {}, &FrameworkSelection::Way::seconds);
  return result;
}

}  // namespace d5
