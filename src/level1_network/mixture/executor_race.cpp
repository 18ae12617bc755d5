// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/executor_race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "d5/core/error.hpp"
#include "d5/core/interrupt.hpp"
#include "level1_network/mixture/value_sketch.hpp"
#include "level1_network/random_nodes.hpp"

namespace d5 {
namespace {

/// What runs overwrite, put back in the end.
class UntouchedNetwork {
 public:
  UntouchedNetwork(Network& network, NetworkMode mode, bool goes_back) : network_(network) {
    for (const auto& [constant, output] : graph_in_mode(network, mode).updates) {
      keep(network.fetch(constant));
    }
    if (!goes_back) return;
    for (const Parameter& parameter : network.parameters()) {
      if (parameter.gradient.defined()) keep(parameter.gradient);
    }
  }
  ~UntouchedNetwork() {
    for (auto& [tensor, before] : kept_) tensor.copy_from(before);
    network_.values_changed();
  }
  UntouchedNetwork(const UntouchedNetwork&) = delete;
  UntouchedNetwork& operator=(const UntouchedNetwork&) = delete;

 private:
  void keep(const Tensor& tensor) { kept_.emplace_back(tensor, tensor.copy()); }
  Network& network_;
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

Comparison compared(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() ? compare(a, b) : Comparison{};
}

double median(const std::vector<double>& samples) { return summarise(samples).median; }

}  // namespace

/// What a run answered: outputs, and with a loss the parameters' gradients.
struct ExecutorRace::Answer {
  Answer(const ValueMap& outputs, Network& network, bool goes_back) {
    for (const auto& [name, value] : outputs) {
      if (const auto values = sketch(&value)) sketches.emplace_back("output " + name, *values);
    }
    if (!goes_back) return;
    for (const Parameter& parameter : network.parameters()) {
      const auto values = sketch(parameter.gradient);
      if (!values) continue;
      sketches.emplace_back("the gradient of " + parameter.name, *values);
      if (values->finite) least = std::max(least, kLeastGradient * values->root_mean_square);
    }
  }
  /// Empty: nothing that rounding would not explain.
  std::string difference(const Answer& other) const {
    for (const auto& [name, values] : sketches) {
      const auto its =
          std::ranges::find(other.sketches, name, [](const auto& s) { return s.first; });
      if (its == other.sketches.end()) continue;
      const bool is_output = name.starts_with("output ");
      if (differ_grossly(values, its->second, is_output ? 0 : std::max(least, other.least))) {
        return name;
      }
    }
    return "";
  }

  static constexpr double kLeastGradient = 1e-5;
  std::vector<std::pair<std::string, ValueSketch>> sketches;
  double least = 0;  ///< that a gradient has to differ by: smaller ones may be rounding alone
};

ExecutorRace::ExecutorRace(Network& network, const ValueMap& inputs, std::string loss,
                           std::function<double()> clock)
    : network_(network), inputs_(inputs), loss_(std::move(loss)), clock_(std::move(clock)) {}

void ExecutorRace::add(std::string name, GraphExecutor& executor) {
  runners_.push_back({std::move(name), &executor});
}

double ExecutorRace::time(Runner& runner) {
  const double begin = clock_();
  if (loss_.empty()) {
    (void)runner.executor->inference(inputs_);
  } else {
    (void)runner.executor->inference_and_backprop(inputs_, loss_);
  }
  runner.executor->synchronise();
  return clock_() - begin;
}

void ExecutorRace::keep_what_is_read(UnchangedTensors& read) const {
  for (const auto& [name, value] : inputs_) read.keep("input " + name, value);
  const GraphInMode run = graph_in_mode(network_, runners_.front().executor->mode());
  for (const auto& [name, value] : network_.graph().initializers) {
    if (!run.updates.contains(name)) read.keep(name, value);
  }
}

void ExecutorRace::warm_up(Runner& runner) {
  const bool is_first = &runner == &runners_.front();
  UnchangedTensors read;
  keep_what_is_read(read);
  try {
    const ValueMap& outputs = loss_.empty()
                                  ? runner.executor->inference(inputs_)
                                  : runner.executor->inference_and_backprop(inputs_, loss_);
    runner.executor->synchronise();
    if (const auto changed = read.put_back()) {
      throw ContractError(
          fmt::format("it changes {}, which it may only read", printable(*changed)));
    }
    auto answer = std::make_shared<const Answer>(outputs, network_, !loss_.empty());
    if (is_first) {
      expected_ = std::move(answer);
    } else if (!draws_random_numbers(network_.graph())) {
      const std::string what = expected_->difference(*answer);
      if (!what.empty()) {
        runner.refusal = fmt::format("{} differs by more than rounding explains", printable(what));
      }
    }
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    if (is_first) throw;
    runner.refusal = printable_message(error.what());
  }
}

void ExecutorRace::drop_refused() {
  for (const Runner& runner : runners_) {
    if (!runner.refusal.empty()) refusals_.push_back({runner.name, runner.refusal});
  }
  std::erase_if(runners_, [](const Runner& runner) { return !runner.refusal.empty(); });
}

void ExecutorRace::run(double most_seconds) {
  constexpr int kRounds = 21, kFewest = 6, kTrial = 2;
  constexpr double kSlow = 2;
  const UntouchedNetwork network(network_, runners_.front().executor->mode(), !loss_.empty());
  std::vector<UntouchedState> states;
  for (const Runner& runner : runners_) states.emplace_back(*runner.executor);
  for (Runner& runner : runners_) warm_up(runner);
  drop_refused();
  const double end = clock_() + most_seconds;
  for (int round = 0; round < kRounds && (round < kFewest || clock_() < end); ++round) {
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      Runner& runner = runners_[(i + std::size_t(round)) % runners_.size()];
      runner.seconds.push_back(time(runner));
    }
    if (round + 1 != kTrial) continue;
    const double first = *std::ranges::min_element(runners_.front().seconds);
    for (Runner& runner : runners_) {
      if (*std::ranges::min_element(runner.seconds) < kSlow * first) continue;
      runner.refusal = fmt::format("it takes {:.2g} times as long as {}",
                                   median(runner.seconds) / first, runners_.front().name);
    }
    drop_refused();
  }
  const std::vector<double>& first = runners_.front().seconds;
  winner_ = runners_.front().name;
  std::ranges::stable_sort(runners_.begin() + 1, runners_.end(), {},
                           [](const Runner& runner) { return median(runner.seconds); });
  if (runners_.size() < 2) return;
  if (compared(runners_[1].seconds, first).ratio_interval.high < 1) winner_ = runners_[1].name;
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
