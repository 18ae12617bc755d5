// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/gradient_source.hpp"
#include "d5/level2_training/optimization/hyper_parameters.hpp"
#include "d5/level2_training/optimization/rank_agreement.hpp"

namespace d5 {

/// Reads the gradients of the parameters in `range`; they are scaled by `factor`.
using GradientReader = std::function<void(ParameterRange range, double factor)>;

/// Trains a network, batch by batch.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Runs the network forward and backward on `batch` and updates its parameters. Returns the
  /// network's outputs, the loss among them; valid until the next run.
  virtual const ValueMap& step(const Batch& batch) = 0;
  /// The source of its gradients.
  [[nodiscard]] virtual GradientSource& gradients() = 0;
  [[nodiscard]] GraphExecutor& executor() { return gradients().executor(); }
  [[nodiscard]] const std::string& loss() { return gradients().loss(); }
  /// Weight of parts of a batch in the loss.
  [[nodiscard]] LossWeight& loss_weight() { return gradients().loss_weight(); }
  /// State besides the parameters that resuming needs: moments, step counts; empty if there is
  /// none.
  [[nodiscard]] virtual ValueMap state() const = 0;
  /// Throws: NotFound, ShapeError for the state of another optimizer.
  virtual void restore(const ValueMap& state) = 0;
  /// Numbers that may change between steps.
  [[nodiscard]] virtual HyperParameters& hyper_parameters() = 0;
  /// Called before and after each test run. A test run may use other parameters than the trained
  /// ones, such as an average. After `end_test` the trained ones are back, bit for bit.
  virtual void begin_test() {}
  virtual void end_test() {}
  /// Called after each test run, on every rank, with the mean loss of this rank's samples and their
  /// weight (`loss_weight`), which may be 0.
  virtual void tested(double loss, double weight) { (void)loss, (void)weight; }
  /// Part that does nothing without test runs, "schedule plateau of learning_rate"; empty: none.
  [[nodiscard]] virtual std::string needs_tests() const { return {}; }
  /// Agreement with the other ranks of the training.
  [[nodiscard]] virtual RankAgreement& agreement();
  /// Calls `reader` for each part of a step's gradients, once they are final (summed over
  /// micro-batches and ranks) and before they are clipped, rejected or used. Replaces an earlier
  /// reader; an empty one removes it. Throws: Unsupported for an optimizer that cannot expose its
  /// gradients.
  virtual void read_gradients(GradientReader reader);
  /// Whether the ranks' readers got disjoint shares in the last step, which together are all
  /// gradients. A collective.
  [[nodiscard]] bool tells_shares() { return gradients().in_shares(); }
};

/// Uses the optimizer's parameters for test runs until the end of its scope.
class TestParameters {
 public:
  explicit TestParameters(Optimizer& optimizer) : optimizer_(optimizer) { optimizer_.begin_test(); }
  ~TestParameters() { optimizer_.end_test(); }
  TestParameters(const TestParameters&) = delete;
  TestParameters& operator=(const TestParameters&) = delete;

 private:
  Optimizer& optimizer_;
};

class StepModifier;

/// An optimizer as three hooks, which make any optimizer distributable: before a batch, before a
/// parameter is read, and the update of a parameter by its gradient.
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), section IV-E.
class ThreeStepOptimizer : public Optimizer {
 public:
  /// `loss` names the network's scalar output.
  ThreeStepOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss);
  ~ThreeStepOptimizer() override;

  /// Called once per step, before anything else.
  virtual void new_input() {}
  /// Called once per parameter and step, before the forward run, if `prepares_params`.
  virtual void prepare_param(Parameter& parameter) { (void)parameter; }
  /// Return false if nothing is prepared: parameters on a device are then spared two copies per
  /// step.
  [[nodiscard]] virtual bool prepares_params() const { return true; }
  /// Called once per parameter and step with its final gradient.
  virtual void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) = 0;

  /// Whether the first update waits for the last gradient. Otherwise updates overlap with the
  /// computation and communication of other gradients.
  [[nodiscard]] virtual bool wants_all_gradients() const { return false; }
  /// Whether updates read gradients of parameters that other ranks update (`update_own`), too. Not
  /// needed for a global number such as `norm_of_gradients`.
  [[nodiscard]] virtual bool reads_all_gradients() const { return wants_all_gradients(); }
  /// Whether `update_parameters` keeps elements of gradients within `element_limit`.
  [[nodiscard]] virtual bool limits_elements() const { return false; }
  /// Called once per step with all gradients final, if it wants them, on every rank with the same
  /// ones. False rejects the step: nothing is updated.
  virtual bool gradients_final() { return true; }
  /// Called once per step that is not rejected, before its first update.
  virtual void begin_update() {}
  /// Called once per such step, after its last update.
  virtual void end_update() {}
  /// Updates the parameters of this range, whose gradients are final and scaled by `factor`. The
  /// default calls `update_rule` for each; a parameter on a device is copied to the host and back.
  virtual void update_parameters(ParameterRange range, double factor);

  /// State of the rule for checkpoints. Throws (restore): NotFound, ShapeError.
  [[nodiscard]] virtual ValueMap rule_state() const = 0;
  virtual void restore_rule(const ValueMap& state) = 0;
  /// Called before and after each test run; may replace the parameters during it.
  virtual void begin_test_of_rule() {}
  virtual void end_test_of_rule() {}
  /// Frees the state of parameters that this process does not update.
  virtual void forget_others() {}

  /// Calls new_input, prepare_param for all, forward and backward, update_parameters for all. If
  /// nothing in the batch counts (`GradientSource::counted`), nothing is updated.
  const ValueMap& step(const Batch& batch) override;

  /// The parts of `step`, in this order, for callers that build their own step, such as a scheme
  /// that gets gradients or parameters from elsewhere. Modifiers, schedules and `begin_update` run
  /// in their places; with the network's own gradients the result is bitwise that of `step`.
  ///
  ///     optimizer.begin_step(batch);
  ///     const ValueMap& outputs = optimizer.run_gradients(batch);
  /// any communication of `Parameter::gradient`
  ///     if (optimizer.begin_updates()) {
  ///       for (std::size_t i = 0; i < parameters; ++i) optimizer.update(i);
  ///       optimizer.end_step();
  ///     }
  ///
  /// Throws: ValueError if another part is due; Unsupported if the optimizer updates all parameters
  /// together.
  ///
  /// Counts the step; calls new_input, and prepare_param for all. Abandons a step whose updates
  /// have not begun.
  void begin_step(const Batch& batch);
  /// Optional; `batch` must live until the end of the step. After it, `Parameter::gradient` is
  /// final for this source and may be changed. If an observer ended the run early, the step ends as
  /// well.
  const ValueMap& run_gradients(const Batch& batch);
  /// False if the step was rejected and is over. Modifiers that want all gradients see the
  /// network's.
  [[nodiscard]] bool begin_updates();
  /// Updates by the network's gradient of this parameter, or by another one, which is copied there.
  /// Throws: ShapeError, TypeError for a gradient that does not fit; ValueError for another
  /// gradient if a modifier has already inspected the network's.
  void update(std::size_t index);
  void update(std::size_t index, const Tensor& gradient);
  void end_step();

  [[nodiscard]] GradientSource& gradients() final { return *gradients_; }
  [[nodiscard]] ValueMap state() const final;
  void restore(const ValueMap& state) final;
  [[nodiscard]] HyperParameters& hyper_parameters() override { return hyper_parameters_; }
  void begin_test() final;
  void end_test() final;
  void tested(double loss, double weight) final;
  [[nodiscard]] std::string needs_tests() const final;
  /// See `LocalGradients::set_loss_weight`.
  void set_loss_weight(std::shared_ptr<LossWeight> weight);
  /// Factor of this rank's loss and gradient of a batch in those of all ranks
  /// (`LossWeight::share`).
  /// Throws: as that.
  [[nodiscard]] double share_of(const Batch& batch);
  [[nodiscard]] RankAgreement& agreement() override { return *agreement_; }
  /// Sets the agreement of a distributed scheme. Throws: ValueError for null.
  void set_agreement(std::shared_ptr<RankAgreement> agreement);
  void read_gradients(GradientReader reader) final { reader_ = std::move(reader); }

  /// Parameters whose gradients are final on this rank, in order; for rules that want all
  /// gradients.
  [[nodiscard]] const std::vector<ParameterRange>& final_gradients() const { return final_; }
  /// Euclidean norm of all final gradients together, without the step's factor; for rules that want
  /// all gradients. If ranks hold shares (`GradientSource::in_shares`), it is the norm of all
  /// shares: a collective, with the same bits on each rank.
  [[nodiscard]] double norm_of_gradients();
  /// Layers of gradient sources, from the inside: one executor's gradients, sums of several of its
  /// runs, sums over ranks, several such sums per step.
  enum class GradientLayer { own, accumulated, exchanged, repeated };
  using MakeSource =
      std::function<std::shared_ptr<GradientSource>(std::shared_ptr<GradientSource>)>;
  /// `make` gets the source of the inner layers.
  void add_gradient_layer(GradientLayer layer, MakeSource make);
  /// Adds a modifier to every following step, after earlier ones. Throws: ValueError if one of its
  /// name was added.
  void add(std::shared_ptr<StepModifier> modifier);
  /// Added modifiers, in order.
  [[nodiscard]] const std::vector<std::shared_ptr<StepModifier>>& modifiers() const {
    return modifiers_;
  }
  /// Exchange of parameter values between the ranks that update them.
  struct ValueSharing {
    std::function<void(std::size_t part)> start;  ///< called for each part, in order
    std::function<void()> finish;                 ///< waits until all values have arrived
  };
  /// Restricts this process to updating its own parameters: for each part of the gradients a range,
  /// which may be empty. The rule's state of other parameters is freed. Values are shared after
  /// preparing, after updates, and when a rule replaces parameters for test runs. A part's values
  /// are shared while later parts are updated, and all before the step ends.
  /// Throws: Unsupported for an optimizer that treats all parameters as one.
  void update_own(std::vector<ParameterRange> own, ValueSharing sharing);
  [[nodiscard]] bool updates(std::size_t parameter) const;

  /// Number of steps, rejected ones included.
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::int64_t refused_steps() const { return refused_; }

 protected:
  /// Calls begin_updates, update for all, end_step; for optimizers that override `step`, after
  /// `run_gradients`.
  void update_all();
  /// Limit on the absolute value of gradient elements in this step's updates, after the factor.
  [[nodiscard]] double element_limit() const { return limit_; }

 private:
  /// Phase of the current step.
  enum class Phase { none, begun, running, final, updating };
  void expect(bool in_order, const char* what) const;
  const ValueMap& start_gradients(const Batch& batch);
  /// Calls `finished`, if given, for each part as it becomes final.
  void finish_gradients(const std::function<void(ParameterRange)>& finished = {});
  void start_updates();
  void update_range(ParameterRange range, std::size_t part);
  [[nodiscard]] bool waits_for_all() const;
  void tell_gradients(ParameterRange range);
  [[nodiscard]] bool waits_for(const StepModifier& modifier) const;
  [[nodiscard]] bool reads_norm_first() const;
  void add_squares(ParameterRange range);
  /// Starts sharing the parts before `end` that are not being shared yet.
  void share_until(std::size_t end);
  void share_all();
  [[nodiscard]] bool is_refused();
  void prepare(std::size_t index);
  void update_one(std::size_t index, double factor);
  /// Host copy of a parameter that lies on a device.
  [[nodiscard]] Parameter& twin_of(const Parameter& parameter, std::size_t index);

  std::shared_ptr<LocalGradients> own_gradients_;
  std::shared_ptr<GradientSource> gradients_;
  std::map<GradientLayer, MakeSource> layers_;
  std::vector<std::shared_ptr<StepModifier>> modifiers_;
  HyperParameters hyper_parameters_;
  GradientReader reader_;
  std::int64_t steps_ = 0, refused_ = 0;
  std::shared_ptr<RankAgreement> agreement_ = std::make_shared<RankAgreement>();
  Phase phase_ = Phase::none;
  const Batch* batch_ = nullptr;  // current batch, and its outputs
  const ValueMap* outputs_ = nullptr;
  std::vector<ParameterRange> final_, parts_;  // sorted and merged; by part of the source
  // Squared norm of each final gradient, by parameter; empty: unknown.
  std::vector<double> squares_;
  double factor_ = 1;  // scale of this step's gradients
  double limit_ = std::numeric_limits<double>::infinity();
  bool judged_ = false;  // a modifier that wants all gradients has seen them
  std::vector<Parameter> twins_;
  std::vector<ParameterRange> own_;  // by part, in order; empty: all
  ValueSharing sharing_;
  std::size_t shared_ = 0;  // parts whose values are being shared, or have been
};

/// An optimizer that consists of an update rule of gradient, old value and own state.
class UpdateRuleOptimizer : public ThreeStepOptimizer {
 public:
  using ThreeStepOptimizer::ThreeStepOptimizer;

  /// Overriders must call these if they use `expect_begun`.
  void new_input() override { updates_ = false; }
  void begin_update() override { updates_ = true; }
  void end_update() override { updates_ = false; }

 protected:
  /// Checks that the step's coefficients exist. Throws: ValueError before `begin_update`.
  void expect_begun(std::size_t parameter) {
    if (!updates_) refuse_update(parameter);
  }

 private:
  [[noreturn]] void refuse_update(std::size_t parameter);

  bool updates_ = false;  // between begin_update and end_update
};

/// The entry's summary names the paper.
using OptimizerEntry =
    Entry<std::shared_ptr<Optimizer>(std::shared_ptr<GraphExecutor>, std::string loss)>;
/// Registered optimizers: d5's own, and a user's.
///
///     auto adam = optimizers().at("adam").make(executor, "loss", {{"learning_rate", 0.01}});
[[nodiscard]] Registry<OptimizerEntry>& optimizers();
/// A framework's native optimizers; a part of `Framework`.
class NativeOptimizers : public Registry<OptimizerEntry> {
 public:
  NativeOptimizers() : Registry("native optimizer") {}
};
/// Finds one of `optimizers()`, or a framework's own: "torch/adam". Throws: NotFound, Unsupported.
[[nodiscard]] const OptimizerEntry& find_optimizer(std::string_view name);

}  // namespace d5
