// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5 {

/// Modifies the steps of any three-step optimizer: a schedule, clipping, loss scaling, parameter
/// averaging. It sees the same on every rank.
class StepModifier {
 public:
  virtual ~StepModifier() = default;
  /// Name of its entry; its state is saved under it.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Called once, when it is added; may add a layer of gradients.
  virtual void attach(ThreeStepOptimizer& optimizer) { (void)optimizer; }
  /// Called once per step, before anything else.
  virtual void before_step(ThreeStepOptimizer& optimizer, const Batch& batch) {
    (void)optimizer, (void)batch;
  }
  /// Loss scale of this step; gradients are divided by it before use.
  [[nodiscard]] virtual double loss_factor() const { return 1; }
  [[nodiscard]] virtual bool wants_all_gradients() const { return false; }
  /// Whether `gradients_final` reads only the norm (`ThreeStepOptimizer::norm_of_gradients`) and
  /// changes no gradient. The norm is then summed as gradients arrive.
  [[nodiscard]] virtual bool reads_norm_alone() const { return false; }
  /// Limit on the elements, times factor, if clipping to it is all that `gradients_final` does. If
  /// no later modifier wants all gradients and the optimizer supports it
  /// (`ThreeStepOptimizer::limits_elements`), elements are clipped in the updates, without waiting
  /// for all gradients.
  [[nodiscard]] virtual std::optional<double> element_limit() const { return {}; }
  /// Called once per step with all gradients final, if it wants them. They are scaled by `factor`,
  /// which it may change. False rejects the step; later modifiers are not called.
  virtual bool gradients_final(ThreeStepOptimizer& optimizer, double& factor) {
    (void)optimizer, (void)factor;
    return true;
  }
  /// Called after the last update, with the outputs of this rank's samples; not after a rejected
  /// step.
  virtual void after_step(ThreeStepOptimizer& optimizer, const Batch& batch,
                          const ValueMap& outputs) {
    (void)optimizer, (void)batch, (void)outputs;
  }
  /// As `Optimizer::begin_test`; called after the optimizer's own.
  virtual void begin_test(ThreeStepOptimizer& optimizer) { (void)optimizer; }
  virtual void end_test(ThreeStepOptimizer& optimizer) { (void)optimizer; }
  /// As `Optimizer::tested`; the loss is the same on every rank.
  virtual void tested(ThreeStepOptimizer& optimizer, double loss) { (void)optimizer, (void)loss; }
  /// As `Optimizer::needs_tests`.
  [[nodiscard]] virtual std::string needs_tests() const { return {}; }
  /// State for checkpoints.
  [[nodiscard]] virtual ValueMap state() const { return {}; }
  virtual void restore(const ValueMap& state) { (void)state; }
};

using StepModifierEntry = Entry<std::shared_ptr<StepModifier>()>;
/// Registered step modifiers by name.
///
///     optimizer.add(step_modifiers().at("clip_norm").make({{"most", 1.0}}));
[[nodiscard]] Registry<StepModifierEntry>& step_modifiers();

/// Modifiers as an option of every three-step optimizer.
struct ModifierOptions {
  std::vector<EntryChoice> modifiers = {};

  void declare(OptionList& options);
};

/// Makes the optimizer `find_optimizer(name)`, with the schedules and modifiers in its settings:
///
///     schedules: {learning_rate: {name: cosine, length: 64000}}
///     modifiers: [{name: clip_norm, most: 1}]
///
/// Throws: what that throws; NotFound for a schedule of an unknown hyper-parameter; Unsupported for
/// an optimizer that is not a three-step one.
[[nodiscard]] std::shared_ptr<Optimizer> open_optimizer(const std::string& name,
                                                        std::shared_ptr<GraphExecutor> executor,
                                                        const std::string& loss,
                                                        const Settings& settings = {});

}  // namespace d5
