// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/trajectory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5::detail {
namespace {

/// Records the gradients of one optimizer's last step, for each time that it computed some, and
/// replays them in another optimizer's step, so that only their rules can differ.
///
///     const GradientTape tape(reference, subject);
///     reference.step(batch);  // from the network
///     subject.step(batch);    // the same gradients, wherever its own parameters are
///
/// It is part of both optimizers' sources while it lives; both networks have the same parameters.
class GradientTape {
 public:
  GradientTape(ThreeStepOptimizer& recorded, ThreeStepOptimizer& given);
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  struct Run {
    double factor = 1;
    std::vector<Tensor> gradients;
    ValueMap outputs;
  };
  /// Called before each step of the recorded training.
  void rewind() { runs_->clear(); }

 private:
  ThreeStepOptimizer &recorded_, &given_;
  std::shared_ptr<std::vector<Run>> runs_;
};

using Runs = std::vector<GradientTape::Run>;

class Recorder final : public GradientDecorator {
 public:
  Recorder(std::shared_ptr<GradientSource> inner, std::shared_ptr<Runs> runs)
      : GradientDecorator(std::move(inner)), runs_(std::move(runs)) {}

  const ValueMap& run(const Batch& batch, const GradientRun& how) override {
    const ValueMap& outputs = inner().run(batch, how);
    auto& run = runs_->emplace_back();
    run.factor = how.factor;
    run.outputs[loss()] = outputs.find(loss())->second.tensor().copy();
    run.gradients.resize(executor().network().parameters().size());
    return outputs;
  }
  ParameterRange finish(std::size_t part) override {
    const ParameterRange range = inner().finish(part);
    executor().synchronise();
    const auto& parameters = executor().network().parameters();
    for (std::size_t i = range.begin; i < range.end; ++i) {
      runs_->back().gradients[i] = parameters[i].gradient.on_host().copy();
    }
    return range;
  }

 private:
  std::shared_ptr<Runs> runs_;
};

class Player final : public GradientDecorator {
 public:
  Player(std::shared_ptr<GradientSource> inner, std::shared_ptr<Runs> runs)
      : GradientDecorator(std::move(inner)), runs_(std::move(runs)) {}

  const ValueMap& run(const Batch&, const GradientRun& how) override {
    if (runs_->empty()) {
      throw Unsupported(
          "the optimizer asks for gradients more often than the one that it is compared with; they "
          "cannot be given the same ones");
    }
    given_ = std::move(runs_->front());
    runs_->erase(runs_->begin());
    if (how.factor != given_.factor) {
      throw Unsupported(
          fmt::format("the loss is scaled by {}, of the one that it is compared with "
                      "by {}; they cannot be given the same gradients",
                      how.factor, given_.factor));
    }
    auto& parameters = executor().network().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].gradient.copy_from(given_.gradients[i]);
    }
    return given_.outputs;
  }
  [[nodiscard]] std::size_t parts() const override { return 1; }
  ParameterRange finish(std::size_t) override {
    return {0, executor().network().parameters().size()};
  }
  [[nodiscard]] bool announces() const override { return false; }

 private:
  std::shared_ptr<Runs> runs_;
  GradientTape::Run given_;
};

using Layer = ThreeStepOptimizer::GradientLayer;
using Source = std::shared_ptr<GradientSource>;

GradientTape::GradientTape(ThreeStepOptimizer& recorded, ThreeStepOptimizer& given)
    : recorded_(recorded), given_(given), runs_(std::make_shared<Runs>()) {
  recorded_.add_gradient_layer(
      Layer::own, [runs = runs_](Source inner) { return std::make_shared<Recorder>(inner, runs); });
  given_.add_gradient_layer(
      Layer::own, [runs = runs_](Source inner) { return std::make_shared<Player>(inner, runs); });
}

GradientTape::~GradientTape() {
  const auto as_it_is = [](Source inner) { return inner; };
  recorded_.add_gradient_layer(Layer::own, as_it_is);
  given_.add_gradient_layer(Layer::own, as_it_is);
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

struct Distance {
  double l2 = 0, largest = 0;
};

/// The difference relative to the larger one of the two.
template <class T>
Distance distance(const Tensor& a, const Tensor& b) {
  double largest = 0, scale = 0, squares = 0, squares_a = 0, squares_b = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double x = double(a.data<T>()[i]), y = double(b.data<T>()[i]);
    if (std::isnan(x) != std::isnan(y)) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      return {kInfinity, kInfinity};
    }
    if (x == y || std::isnan(x)) {
      scale = std::max(scale, std::abs(x));
      squares_a += std::isnan(x) ? 0 : x * x, squares_b += std::isnan(x) ? 0 : x * x;
      continue;
    }
    largest = std::max(largest, std::abs(x - y));
    scale = std::max({scale, std::abs(x), std::abs(y)});
    squares += (x - y) * (x - y), squares_a += x * x, squares_b += y * y;
  }
  if (largest == 0) return {};
  return {std::sqrt(squares / std::max(squares_a, squares_b)), largest / scale};
}

const Batch& next_batch(Sampler& data, std::int64_t& epoch) {
  if (const Batch* batch = data.next()) return *batch;
  data.reset(++epoch);
  if (const Batch* batch = data.next()) return *batch;
  throw ValueError("test_optimizer: the sampler gives no batch");
}

/// Copies the reference's parameters to the subject.
void begin_together(Network& network, const std::vector<Parameter>& expected) {
  if (network.parameters().size() != expected.size()) {
    throw ShapeError(fmt::format("test_optimizer: the networks have {} and {} parameters",
                                 network.parameters().size(), expected.size()));
  }
  for (const Parameter& parameter : expected) {
    network.parameter(parameter.name).value.copy_from(parameter.value);
  }
}

std::unique_ptr<detail::GradientTape> tape_between(Optimizer& reference, Optimizer& subject) {
  auto* recorded = dynamic_cast<ThreeStepOptimizer*>(&reference);
  auto* given = dynamic_cast<ThreeStepOptimizer*>(&subject);
  if (!recorded || !given) {
    throw Unsupported(
        "an open loop gives an optimizer other gradients than its own, which requires a "
        "ThreeStepOptimizer");
  }
  return std::make_unique<detail::GradientTape>(*recorded, *given);
}

void measure_step(Network& network, const std::vector<Parameter>& expected, Divergence& result) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Tensor reference = expected[i].value.on_host();
    const Tensor subject = network.parameter(expected[i].name).value.on_host();
    dispatch(RealTypes{}, reference.dtype(), "test_optimizer", [&]<class T>() {
      const Distance apart = distance<T>(subject, reference);
      result.parameters[i].l2.push_back(apart.l2);
      result.parameters[i].largest.push_back(apart.largest);
      result.epsilon = std::max(result.epsilon, double(std::numeric_limits<T>::epsilon()));
    });
  }
}

}  // namespace

std::vector<double> Divergence::largest() const {
  std::vector<double> all;
  for (const auto& parameter : parameters) {
    all.resize(parameter.largest.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], parameter.largest[i]);
  }
  return all;
}

Divergence divergence(Optimizer& subject, Optimizer& reference, Sampler& data, std::int64_t steps,
                      Loop loop) {
  Network& network = subject.executor().network();
  const std::vector<Parameter>& expected = reference.executor().network().parameters();
  begin_together(network, expected);
  const auto tape = loop == Loop::open ? tape_between(reference, subject) : nullptr;
  Divergence result;
  for (const Parameter& parameter : expected) result.parameters.push_back({.name = parameter.name});
  std::int64_t epoch = 0;
  data.reset(epoch);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch& batch = next_batch(data, epoch);
    if (tape) tape->rewind();
    reference.step(batch);
    subject.step(batch);
    measure_step(network, expected, result);
  }
  return result;
}

Plot divergence_plot(const std::string& title, const Divergence& closed, const Divergence& open) {
  Plot plot{.name = "divergence",
            .title = title,
            .note = open.parameters.empty()
                        ? ""
                        : "Bold: each with its own gradients. Faint: both with the reference's "
                          "gradients, where only rounding differs.",
            .x = {.label = "step", .scale = PlotAxis::Scale::whole},
            .y = {.label = "difference of a parameter, by its norm",
                  .scale = PlotAxis::Scale::logarithmic}};
  const auto draw = [&](const Divergence& loop, PlotMark::Shape shape, const char* word) {
    for (std::size_t i = 0; i < loop.parameters.size(); ++i) {
      const auto& parameter = loop.parameters[i];
      PlotMark line{.shape = shape, .series = i, .tip = parameter.name + ", " + word};
      for (std::size_t step = 0; step < parameter.l2.size(); ++step) {
        line.points.push_back({double(step + 1), parameter.l2[step]});
      }
      plot.marks.push_back(std::move(line));
    }
  };
  for (const auto& parameter : closed.parameters) plot.series.push_back(parameter.name);
  draw(open, PlotMark::Shape::faint_line, "open loop");
  draw(closed, PlotMark::Shape::line, "closed loop");
  return plot;
}

}  // namespace d5
