// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/shared/kept_settings.hpp"
#include "level2_training/optimization/shared/parameter_average.hpp"

namespace d5 {
namespace {

struct EmaOptions {
  double decay = 0.999;
  std::int64_t every = 1;

  void declare(OptionList& options) {
    options.add("decay", decay, "decay rate of the average", {.least = 0, .below = 1});
    options.add("every", every, "interval between averaged values, in steps", {.least = 1});
  }
};

/// average <- decay * average + (1 - decay) * w, used by test runs.
///
/// Source: Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging" (1992),
/// with the exponential weights of Tarvainen and Valpola, "Mean Teachers Are Better Role Models"
/// (2017).
class Ema : public detail::ParameterAverage {
 public:
  using Options = EmaOptions;
  explicit Ema(const Options& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "ema"; }
  void after_step(ThreeStepOptimizer& optimizer, const Batch&, const ValueMap&) override {
    if (optimizer.steps() % options_.every == 0) take(optimizer, 1 - options_.decay);
  }

 private:
  Options options_;
};

}  // namespace

namespace step_modifier {

void register_ema(Registry<StepModifierEntry>& registry) {
  registry.add("ema", StepModifierEntry::of<detail::KeptSettings<Ema>>(
                          "exponential moving average of the parameters for "
                          "test runs (Polyak and Juditsky, 1992)"));
}

}  // namespace step_modifier
}  // namespace d5
