// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/shared/kept_settings.hpp"
#include "level2_training/optimization/shared/parameter_average.hpp"

namespace d5 {
namespace {

struct SwaOptions {
  std::int64_t begin = 0;
  std::int64_t every = 1;

  void declare(OptionList& options) {
    options.add("begin", begin, "number of steps before averaging begins", {.least = 0});
    options.add("every", every, "interval between averaged values, in steps", {.least = 1});
  }
};

/// The plain average of the parameters after steps begin + every, begin + 2 every, ..., used by
/// test runs.
///
/// Source: Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization"
/// (UAI 2018), algorithm 1, without its last line: running statistics stay those of the trained
/// network.
class Swa : public detail::ParameterAverage {
 public:
  using Options = SwaOptions;
  explicit Swa(const Options& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "swa"; }
  void after_step(ThreeStepOptimizer& optimizer, const Batch&, const ValueMap&) override {
    const std::int64_t since = optimizer.steps() - options_.begin;
    if (since > 0 && since % options_.every == 0) take(optimizer, 1 / double(values() + 1));
  }

 private:
  Options options_;
};

}  // namespace

namespace step_modifier {

void register_swa(Registry<StepModifierEntry>& registry) {
  registry.add("swa", StepModifierEntry::of<detail::KeptSettings<Swa>>(
                          "stochastic weight averaging for test runs (Izmailov et al., 2018)"));
}

}  // namespace step_modifier
}  // namespace d5
