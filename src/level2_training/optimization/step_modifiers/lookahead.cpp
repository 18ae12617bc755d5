// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/shared/averaging.hpp"
#include "level2_training/optimization/shared/kept_settings.hpp"

namespace d5 {
namespace {

struct LookaheadOptions {
  std::int64_t every = 5;
  double share = 0.5;

  void declare(OptionList& options) {
    options.add("every", every, "number of fast steps per slow step", {.least = 1});
    options.add("share", share, "step size of the slow weights", {.above = 0, .most = 1});
  }
};

/// After each `every` steps: slow <- slow + share * (w - slow);  w <- slow. The slow weights begin
/// as the first parameters.
///
/// Source: Zhang et al., "Lookahead Optimizer: k Steps Forward, 1 Step Back" (NeurIPS 2019),
/// algorithm 1; what the optimizer remembers stays as it is.
class Lookahead : public StepModifier {
 public:
  using Options = LookaheadOptions;
  explicit Lookahead(const Options& options) : options_(options) {}

  [[nodiscard]] std::string name() const override { return "lookahead"; }
  void attach(ThreeStepOptimizer& optimizer) override {
    slow_.emplace("slow", optimizer.executor().network());
  }
  void before_step(ThreeStepOptimizer& optimizer, const Batch&) override {
    if (begun_) return;
    const auto& parameters = optimizer.executor().network().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      detail::move_towards((*slow_)[i], parameters[i].value, 1);
    }
    begun_ = true;
  }
  void after_step(ThreeStepOptimizer& optimizer, const Batch&, const ValueMap&) override {
    if (++fast_ % options_.every != 0) return;
    optimizer.executor().synchronise();
    auto& parameters = optimizer.executor().network().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      detail::move_towards((*slow_)[i], parameters[i].value, options_.share);
      detail::put((*slow_)[i], parameters[i].value);
    }
  }

  [[nodiscard]] ValueMap state() const override {
    ValueMap state{{"begun", Tensor::scalar(begun_)}, {"fast", Tensor::scalar(fast_)}};
    slow_->save(state);
    return state;
  }
  void restore(const ValueMap& state) override {
    begun_ = state_entry(state, "begun", name()).item<bool>();
    fast_ = state_entry(state, "fast", name()).item<std::int64_t>();
    slow_->restore(state);
  }

 private:
  Options options_;
  std::optional<ParameterSlots> slow_;
  std::int64_t fast_ = 0;  // steps that were made
  bool begun_ = false;
};

}  // namespace

namespace step_modifier {

void register_lookahead(Registry<StepModifierEntry>& registry) {
  registry.add("lookahead",
               StepModifierEntry::of<detail::KeptSettings<Lookahead>>(
                   "Lookahead: slow weights follow the fast ones (Zhang et al., 2019)"));
}

}  // namespace step_modifier
}  // namespace d5
