// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/gradient_norm.hpp"
#include "d5/level2_training/optimization/kept_parameters.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/kept_outputs.hpp"
#include "level2_training/optimization/shared/kept_settings.hpp"
#include "level2_training/optimization/shared/on_host.hpp"

namespace d5 {
namespace {

struct SamOptions {
  double rho = 0.05;

  void declare(OptionList& options) {
    options.add("rho", rho, "radius: distance at which the gradient is evaluated", {.least = 0});
  }
};

/// value += rate * direction; both are on the same device.
void move_along(Tensor& value, const Tensor& direction, double rate) {
  const Tensor here = direction.on_host();
  detail::change_on_host(value, [&]<class T>(std::span<T> values) {
    using Wide = detail::Wide<T>;
    const T* by = here.data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = T(Wide(values[i]) + Wide(rate) * Wide(by[i]));
    }
  });
}

/// The gradient at w + rho * g / ‖g‖, where g is the gradient at w; afterwards w is restored bit
/// for bit. Outputs are those at w.
class SharpnessAwareGradients final : public GradientDecorator {
 public:
  SharpnessAwareGradients(std::shared_ptr<GradientSource> inner, double rho)
      : GradientDecorator(std::move(inner)), rho_(rho) {}

  const ValueMap& run(const Batch& batch, const GradientRun& how) override {
    const ValueMap& outputs = inner().run(batch, {.factor = how.factor});
    if (executor().ended_early()) return outputs;
    inner().finish_all();
    if (inner().in_shares()) {
      throw Unsupported(
          "sam needs all gradients on each rank, and this exchange leaves each a share; choose "
          "another exchange");
    }
    executor().synchronise();
    outputs_.keep(outputs);
    Network& network = executor().network();
    const double norm = gradient_norm(network);
    trained_.keep(network);
    if (norm > 0) {  // not where it is zero, or not a number
      for (Parameter& parameter : network.parameters()) {
        move_along(parameter.value, parameter.gradient, rho_ / norm);
      }
    }
    (void)inner().run(batch, how);
    executor().synchronise();
    trained_.give_back(network);
    return outputs_.all();
  }
  [[nodiscard]] bool announces() const override { return false; }

 private:
  double rho_;
  KeptParameters trained_;
  detail::KeptOutputs outputs_;
};

/// Sharpness-aware minimization: two runs per step. Running statistics (of batch normalization) see
/// both; random nodes (Dropout) draw different numbers in each.
///
/// Source: Foret et al., "Sharpness-Aware Minimization for Efficiently Improving Generalization"
/// (ICLR 2021), algorithm 1 with p = 2.
class Sam : public StepModifier {
 public:
  using Options = SamOptions;
  explicit Sam(const Options& options) : rho_(options.rho) {}
  [[nodiscard]] std::string name() const override { return "sam"; }
  void attach(ThreeStepOptimizer& optimizer) override {
    optimizer.add_gradient_layer(ThreeStepOptimizer::GradientLayer::repeated,
                                 [rho = rho_](std::shared_ptr<GradientSource> inner) {
                                   return std::make_shared<SharpnessAwareGradients>(
                                       std::move(inner), rho);
                                 });
  }

 private:
  double rho_;
};

}  // namespace

namespace step_modifier {

void register_sam(Registry<StepModifierEntry>& registry) {
  registry.add("sam", StepModifierEntry::of<detail::KeptSettings<Sam>>(
                          "sharpness-aware minimization (Foret et al., 2021)"));
}

}  // namespace step_modifier
}  // namespace d5
