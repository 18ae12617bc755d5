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

/// Changes the steps of any three-step optimizer: a schedule, clipping, a scale on the loss, an
/// average of the parameters. It sees the same on every rank.
class StepModifier {
 public:
  virtual ~StepModifier() = default;
  /// The word under which its state is kept: its entry's.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Called once, when it is added; it may add a layer of gradients.
  virtual void attach(ThreeStepOptimizer& optimizer) { (void)optimizer; }
  /// Called once a step, before anything else.
  virtual void before_step(ThreeStepOptimizer& optimizer, const Batch& batch) {
    (void)optimizer, (void)batch;
  }
  /// On the loss of this step; the gradients are divided by it before they are used.
  [[nodiscard]] virtual double loss_factor() const { return 1; }
  [[nodiscard]] virtual bool wants_all_gradients() const { return false; }
  /// Whether `gradients_final` asks for their norm alone (`ThreeStepOptimizer::norm_of_gradients`)
  /// and changes none of them. It is then summed as they arrive.
  [[nodiscard]] virtual bool reads_norm_alone() const { return false; }
  /// Where `gradients_final` does nothing but keep each element, times factor, within a size: which
  /// one. If no later modifier wants all gradients and the optimizer can
  /// (`ThreeStepOptimizer::limits_elements`), it does so as it updates, and waits for nothing.
  [[nodiscard]] virtual std::optional<double> element_limit() const { return {}; }
  /// Called once a step with all gradients final, if it wants them. They count `factor` times,
  /// which it may change. Whoever returns false refuses the step; no later one is asked.
  virtual bool gradients_final(ThreeStepOptimizer& optimizer, double& factor) {
    (void)optimizer, (void)factor;
    return true;
  }
  /// After the last update, with the outputs of this rank's samples; not after a refused step.
  virtual void after_step(ThreeStepOptimizer& optimizer, const Batch& batch,
                          const ValueMap& outputs) {
    (void)optimizer, (void)batch, (void)outputs;
  }
  /// As `Optimizer::begin_test`, called after the optimizer's own.
  virtual void begin_test(ThreeStepOptimizer& optimizer) { (void)optimizer; }
  virtual void end_test(ThreeStepOptimizer& optimizer) { (void)optimizer; }
  /// As `Optimizer::tested`; the loss is the same on every rank.
  virtual void tested(ThreeStepOptimizer& optimizer, double loss) { (void)optimizer, (void)loss; }
  /// What a checkpoint keeps.
  [[nodiscard]] virtual ValueMap state() const { return {}; }
  virtual void restore(const ValueMap& state) { (void)state; }
};

using StepModifierEntry = Entry<std::shared_ptr<StepModifier>()>;
/// All by name.
///
///     optimizer.add(step_modifiers().at("clip_norm").make({{"most", 1.0}}));
[[nodiscard]] Registry<StepModifierEntry>& step_modifiers();

/// What the settings of every three-step optimizer may say besides its own.
struct ModifierOptions {
  std::vector<EntryChoice> modifiers = {};

  void declare(OptionList& options);
};

/// An optimizer of `find_optimizer(name)`, with the schedules and modifiers that the settings name:
///
///     schedules: {learning_rate: {name: cosine, length: 64000}}
///     modifiers: [{name: clip_norm, most: 1}]
///
/// Throws: what that throws; NotFound for a schedule of no hyper-parameter; Unsupported for an
/// optimizer that is not in three steps.
[[nodiscard]] std::shared_ptr<Optimizer> open_optimizer(const std::string& name,
                                                        std::shared_ptr<GraphExecutor> executor,
                                                        const std::string& loss,
                                                        const Settings& settings = {});

}  // namespace d5
