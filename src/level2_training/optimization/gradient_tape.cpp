// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/gradient_tape.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

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

}  // namespace

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

}  // namespace d5::detail
