// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/shared/kept_settings.hpp"
#include "level2_training/optimization/shared/on_host.hpp"

namespace d5 {
namespace {

struct LossScaleOptions {
  double initial = 65536;
  std::int64_t every = 2000;
  double least = 1;
  double most = 16777216;

  void declare(OptionList& options) {
    options.add("initial", initial, "initial scale", {.above = 0});
    options.add("every", every, "number of steps without overflow after which the scale is doubled",
                {.least = 1});
    options.add("least", least, "minimum scale", {.above = 0});
    options.add("most", most, "maximum scale", {.above = 0});
  }
};

bool is_finite(const Tensor& tensor) {
  const Tensor here = tensor.on_host();
  bool finite = true;
  dispatch(FloatTypes{}, here.dtype(), "loss_scale", [&]<class T>() {
    finite = std::ranges::all_of(here.span<T>(),
                                 [](T value) { return std::isfinite(detail::Wide<T>(value)); });
  });
  return finite;
}

/// Keeps small gradients from being rounded to zero in 16-bit types: the loss is multiplied by a
/// power of two, and the gradients are divided by it before use. If any gradient overflows on any
/// rank, all ranks reject the step (`ThreeStepOptimizer::refused_steps`) and halve the scale. After
/// `every` successive steps without overflow it is doubled.
///
/// Source: Micikevicius et al., "Mixed Precision Training" (ICLR 2018), section 3.2.
class LossScale : public StepModifier {
 public:
  using Options = LossScaleOptions;
  explicit LossScale(const Options& options) : options_(options), scale_(options.initial) {}

  [[nodiscard]] std::string name() const override { return "loss_scale"; }
  [[nodiscard]] double loss_factor() const override { return scale_; }
  [[nodiscard]] bool wants_all_gradients() const override { return true; }
  [[nodiscard]] bool reads_norm_alone() const override { return true; }
  bool gradients_final(ThreeStepOptimizer& optimizer, double&) override {
    // The sum of squares of finite float64 numbers may overflow: then each number is checked.
    const auto& parameters = optimizer.executor().network().parameters();
    const bool here = std::isfinite(optimizer.norm_of_gradients()) ||
                      std::ranges::all_of(parameters, [](const Parameter& parameter) {
                        return is_finite(parameter.gradient);
                      });
    const bool good = !optimizer.agreement().any(!here);
    if (!good) {
      scale_ = std::max(scale_ / 2, options_.least);
      good_ = 0;
    } else if (++good_ == options_.every) {
      scale_ = std::min(scale_ * 2, options_.most);
      good_ = 0;
    }
    return good;
  }

  [[nodiscard]] ValueMap state() const override {
    return {{"scale", Tensor::scalar(scale_)}, {"good", Tensor::scalar(good_)}};
  }
  void restore(const ValueMap& state) override {
    scale_ = state_entry(state, "scale", name()).item<double>();
    good_ = state_entry(state, "good", name()).item<std::int64_t>();
  }

 private:
  Options options_;
  double scale_;
  std::int64_t good_ = 0;  // steps since the last change
};

}  // namespace

namespace step_modifier {

void register_loss_scale(Registry<StepModifierEntry>& registry) {
  registry.add("loss_scale",
               StepModifierEntry::of<detail::KeptSettings<LossScale>>(
                   "dynamic loss scaling, for 16-bit gradients (Micikevicius et al., 2018)"));
}

}  // namespace step_modifier
}  // namespace d5
