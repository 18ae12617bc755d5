// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/gradient_norm.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/shared/kept_settings.hpp"
#include "level2_training/optimization/shared/on_host.hpp"

namespace d5 {
namespace {

struct ClipTensorNormOptions {
  double most = 1;

  void declare(OptionList& options) {
    options.add("most", most, "maximum norm of each parameter's gradient", {.above = 0});
  }
};

/// g <- g * most / ‖g‖ for each parameter whose gradient has a norm above `most`.
class ClipTensorNorm : public StepModifier {
 public:
  using Options = ClipTensorNormOptions;
  explicit ClipTensorNorm(const Options& options) : options_(options) {}

  [[nodiscard]] std::string name() const override { return "clip_tensor_norm"; }
  [[nodiscard]] bool wants_all_gradients() const override { return true; }
  bool gradients_final(ThreeStepOptimizer& optimizer, double& factor) override {
    for (Parameter& parameter : optimizer.executor().network().parameters()) {
      const double norm = factor * norm_of(parameter.gradient);
      if (!(norm > options_.most)) continue;
      detail::scale(parameter.gradient, options_.most / norm);
    }
    return true;
  }

 private:
  Options options_;
};

}  // namespace

namespace step_modifier {

void register_clip_tensor_norm(Registry<StepModifierEntry>& registry) {
  registry.add("clip_tensor_norm", StepModifierEntry::of<detail::KeptSettings<ClipTensorNorm>>(
                                       "gradient clipping by each parameter's norm"));
}

}  // namespace step_modifier
}  // namespace d5
