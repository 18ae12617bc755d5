// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level2_training/data/batch_feed.hpp"
#include "d5/level2_training/optimization/kept_parameters.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/kept_outputs.hpp"
#include "level2_training/optimization/shared/flat_parameters.hpp"
#include "level2_training/optimization/shared/kept_settings.hpp"

namespace d5 {
namespace {

struct EvolutionOptions {
  double deviation = 0.02;
  std::int64_t pairs = 16;
  std::uint64_t seed = 0;

  void declare(OptionList& options) {
    options.add("deviation", deviation, "standard deviation of the noise on each parameter",
                {.above = 0});
    options.add("pairs", pairs, "pairs of opposite noise per step", {.least = 1});
    options.add("seed", seed, "seed of the noise");
  }
};

/// g = sum over n pairs of (loss(w + s e) - loss(w - s e)) / (2 n s) * e, e normal: the gradient of
/// the loss smoothed by noise of deviation s, estimated by forward runs alone. Afterwards w is
/// restored bit for bit. All ranks draw the same noise, each for its samples.
class EstimatedGradients final : public GradientDecorator {
 public:
  EstimatedGradients(std::shared_ptr<GradientSource> inner, const EvolutionOptions& options,
                     std::shared_ptr<const std::int64_t> step)
      : GradientDecorator(std::move(inner)), options_(options), step_(std::move(step)) {}

  const ValueMap& run(const Batch& batch, const GradientRun& how) override {
    if (how.write == GradientRun::Write::add) {
      throw Unsupported("evolution estimates gradients itself, it cannot add to them");
    }
    Network& network = executor().network();
    if (batch.size > 0 || batch.global_size == 0) {
      const ValueMap& outputs = executor().inference(feed_.of(network, batch));
      if (executor().ended_early()) return outputs;
      outputs_.keep(outputs);
    } else {
      outputs_.keep({{loss(), Tensor::scalar(std::numeric_limits<float>::quiet_NaN())}});
    }
    trained_.keep(network);
    const std::vector<double> from = detail::flat_values(network);
    std::vector<double> sum(from.size(), 0.0), noise(from.size());
    for (std::int64_t pair = 0; pair < options_.pairs; ++pair) {
      RandomStream random(options_.seed, std::uint32_t(*step_), std::uint32_t(pair));
      for (double& value : noise) value = random.normal_double();
      const double above = loss_at(batch, from, noise, options_.deviation);
      const double below = loss_at(batch, from, noise, -options_.deviation);
      detail::add_times(sum, above - below, noise);
    }
    trained_.give_back(network);
    const double share = how.factor / (2 * double(options_.pairs) * options_.deviation);
    for (double& value : sum) value *= share;
    detail::set_gradients(network, sum);
    return outputs_.all();
  }
  [[nodiscard]] std::size_t parts() const override { return 1; }
  ParameterRange finish(std::size_t) override {
    return {0, executor().network().parameters().size()};
  }
  [[nodiscard]] bool announces() const override { return false; }

 private:
  double loss_at(const Batch& batch, std::vector<double> values, const std::vector<double>& noise,
                 double deviation) {
    detail::add_times(values, deviation, noise);
    detail::set_values(executor().network(), values);
    return inner().loss_of(batch);
  }

  EvolutionOptions options_;
  std::shared_ptr<const std::int64_t> step_;
  BatchFeed feed_;
  KeptParameters trained_;
  detail::KeptOutputs outputs_;
};

/// Makes any optimizer work without backpropagation.
///
/// Source: Salimans et al., "Evolution Strategies as a Scalable Alternative to Reinforcement
/// Learning" (2017), algorithm 1 with antithetic noise.
class Evolution : public StepModifier {
 public:
  using Options = EvolutionOptions;
  explicit Evolution(const Options& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "evolution"; }
  void attach(ThreeStepOptimizer& optimizer) override {
    optimizer.add_gradient_layer(
        ThreeStepOptimizer::GradientLayer::repeated,
        [options = options_, step = step_](std::shared_ptr<GradientSource> inner) {
          return std::make_shared<EstimatedGradients>(std::move(inner), options, step);
        });
  }
  void before_step(ThreeStepOptimizer& optimizer, const Batch&) override {
    *step_ = optimizer.steps();
  }

 private:
  Options options_;
  std::shared_ptr<std::int64_t> step_ = std::make_shared<std::int64_t>(0);
};

}  // namespace

namespace step_modifier {

void register_evolution(Registry<StepModifierEntry>& registry) {
  registry.add(
      "evolution",
      StepModifierEntry::of<detail::KeptSettings<Evolution>>(
          "evolution strategies: gradients from forward runs only (Salimans et al., 2017)"));
}

}  // namespace step_modifier
}  // namespace d5
