// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/simulation/timed_optimizer.hpp"

#include <fmt/format.h>

#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/core/tensor/stream.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/graph/execution_event.hpp"

namespace d5 {
namespace {

constexpr const char* kTimedLoss = "loss";

void check_times(const TimedStep& times) {
  const auto expect = [](const std::string& what, double seconds) {
    if (seconds >= 0) return;
    throw ValueError(
        fmt::format("times of a step: {} takes {} s; expected 0 or more", what, seconds));
  };
  expect("forward", times.forward);
  for (const double factor : times.factors) expect("a factor of a step that", factor);
  expect("the rest of backward", times.rest);
  if (times.gradients.empty()) throw ValueError("times of a step: there are no gradients");
  for (const auto& gradient : times.gradients) {
    expect("backward to '" + printable(gradient.parameter) + "'", gradient.backward);
    expect("the update of '" + printable(gradient.parameter) + "'", gradient.update);
    if (gradient.elements >= 1) continue;
    throw ValueError(fmt::format("times of a step: '{}' has {} elements; expected 1 or more",
                                 printable(gradient.parameter), gradient.elements));
  }
}

/// A network with only parameters, in order, in phantom arenas.
Network phantom_network(const TimedStep& times) {
  Network network("timed");
  std::string before;
  // Parameters that are read first have their gradients last.
  for (std::size_t i = times.gradients.size(); i-- > 0;) {
    const auto& gradient = times.gradients[i];
    network.add_parameter(gradient.parameter,
                          phantom_tensor({DType::float32, {gradient.elements}}));
    std::vector<std::string> reads = {gradient.parameter};
    if (!before.empty()) reads.push_back(before);
    before = i == 0 ? std::string(kTimedLoss) : fmt::format("before {}", i);
    network.add_node("Sum", reads, {before});
  }
  network.add_output(kTimedLoss);
  network.lay_out_in([](std::size_t bytes) {
    return phantom_tensor({DType::uint8, {static_cast<std::int64_t>(bytes)}});
  });
  return network;
}

class TimedExecutor final : public GraphExecutor {
 public:
  TimedExecutor(SimulatedRank& rank, TimedStep times)
      : rank_(rank), times_(std::move(times)), network_(phantom_network(times_)) {
    outputs_[kTimedLoss] = Tensor::scalar(0.0F);
  }

  /// Spends time of the current step.
  void spend(double seconds, const Slowdown& slowdown) {
    const auto& factors = times_.factors;
    rank_.spend(factors.empty() ? seconds : seconds * factors[(runs_ - 1) % factors.size()],
                slowdown);
  }

  void update(std::size_t index) {
    spend(times_.gradients[index].update, times_.gradients[index].update_slowdown);
  }

  const ValueMap& inference(const ValueMap&) override {
    rank_.spend(times_.forward, times_.forward_slowdown);
    return outputs_;
  }

  const ValueMap& inference_and_backprop(const ValueMap&, std::string_view) override {
    std::vector<ExecutionEvent*> observers;
    events_.collect(observers);
    const auto tell = [&](const auto& hook) {
      for (auto* observer : observers) hook(*observer);
    };
    ++runs_;
    tell([](ExecutionEvent& of) { of.before_run(Pass::backward); });
    tell([](ExecutionEvent& of) { of.before_pass(Pass::forward); });
    {
      const Span span("network", "forward");
      spend(times_.forward, times_.forward_slowdown);
    }
    tell([](ExecutionEvent& of) { of.after_pass(Pass::forward); });
    tell([](ExecutionEvent& of) { of.before_pass(Pass::backward); });
    auto& parameters = network_.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      {
        const Span span("network", [&] { return "backward to " + parameters[i].name; });
        spend(times_.gradients[i].backward, times_.gradients[i].backward_slowdown);
      }
      tell([&](ExecutionEvent& of) { of.gradient_ready(parameters[i], i, host_stream()); });
    }
    {
      const Span span("network", "backward");
      spend(times_.rest, times_.rest_slowdown);
    }
    tell([](ExecutionEvent& of) { of.after_pass(Pass::backward); });
    tell([](ExecutionEvent& of) { of.after_run(Pass::backward); });
    return outputs_;
  }

  /// Does nothing, because backpropagation multiplies by the factor at no cost.
  void set_loss_factor(double) override {}
  const Tensor& gradient(std::string_view name) const override {
    throw Unsupported(fmt::format("a timed executor has no gradient of '{}'", printable(name)));
  }
  void set_mode(NetworkMode mode) override { mode_ = mode; }
  NetworkMode mode() const override { return mode_; }
  ValueMap state() const override { return {}; }
  void restore(const ValueMap&) override {}
  Network& network() override { return network_; }
  EventList& events() override { return events_; }
  std::string framework() const override { return "simulated"; }

 private:
  SimulatedRank& rank_;
  TimedStep times_;
  Network network_;
  ValueMap outputs_;
  EventList events_;
  NetworkMode mode_ = NetworkMode::training;
  std::size_t runs_ = 0;
};

class TimedOptimizer final : public ThreeStepOptimizer {
 public:
  explicit TimedOptimizer(const std::shared_ptr<TimedExecutor>& executor)
      : ThreeStepOptimizer(executor, kTimedLoss), timed_(*executor) {}
  bool prepares_params() const override { return false; }
  void update_rule(const Tensor&, Parameter&, std::size_t index) override { timed_.update(index); }
  void update_parameters(ParameterRange range, double) override {
    for (std::size_t i = range.begin; i < range.end; ++i) timed_.update(i);
  }
  ValueMap rule_state() const override { return {}; }
  void restore_rule(const ValueMap&) override {}

 private:
  TimedExecutor& timed_;
};

}  // namespace

double TimedStep::seconds() const {
  double sum = forward + rest;
  for (const auto& gradient : gradients) sum += gradient.backward + gradient.update;
  return sum;
}

std::shared_ptr<ThreeStepOptimizer> make_timed_optimizer(SimulatedRank& rank,
                                                         const TimedStep& times) {
  check_times(times);
  return std::make_shared<TimedOptimizer>(std::make_shared<TimedExecutor>(rank, times));
}

Batch timed_batch() {
  Batch batch;
  batch.size = 1;
  return batch;
}

}  // namespace d5
