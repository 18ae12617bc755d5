// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/shared/kept_settings.hpp"

namespace d5 {
namespace {

struct ClipNormOptions {
  double most = 1;

  void declare(OptionList& options) {
    options.add("most", most, "maximum norm of all gradients together", {.above = 0});
  }
};

/// g <- g * most / ‖g‖ if the norm of all gradients together is above `most`.
///
/// Source: Pascanu, Mikolov and Bengio, "On the Difficulty of Training Recurrent Neural Networks"
/// (ICML 2013), algorithm 1.
class ClipNorm : public StepModifier {
 public:
  using Options = ClipNormOptions;
  explicit ClipNorm(const Options& options) : options_(options) {}

  [[nodiscard]] std::string name() const override { return "clip_norm"; }
  [[nodiscard]] bool wants_all_gradients() const override { return true; }
  [[nodiscard]] bool reads_norm_alone() const override { return true; }
  bool gradients_final(ThreeStepOptimizer& optimizer, double& factor) override {
    const double norm = factor * optimizer.norm_of_gradients();
    if (norm > options_.most) factor *= options_.most / norm;
    return true;
  }

 private:
  Options options_;
};

}  // namespace

namespace step_modifier {

void register_clip_norm(Registry<StepModifierEntry>& registry) {
  registry.add("clip_norm", StepModifierEntry::of<detail::KeptSettings<ClipNorm>>(
                                "gradient clipping by global norm (Pascanu et al., 2013)"));
}

}  // namespace step_modifier
}  // namespace d5
