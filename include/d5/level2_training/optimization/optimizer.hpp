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

/// Reads the gradients of the parameters in `range`, which count `factor` times.
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
  /// What of a batch the loss counts.
  [[nodiscard]] LossWeight& loss_weight() { return gradients().loss_weight(); }
  /// Everything that resuming needs besides the parameters: moments, step counts; empty where there
  /// is nothing.
  [[nodiscard]] virtual ValueMap state() const = 0;
  /// Throws: NotFound, ShapeError for a state that is not this optimizer's.
  virtual void restore(const ValueMap& state) = 0;
  /// What may change between steps.
  [[nodiscard]] virtual HyperParameters& hyper_parameters() = 0;
  /// Around each test run: it may be made with other parameters than those that are trained, such
  /// as an average. After `end_test` they are the trained ones again, bit for bit.
  virtual void begin_test() {}
  virtual void end_test() {}
  /// Called after each test run, on every rank, with the mean loss of what this rank had in it, and
  /// how much of what the loss counts that was (`loss_weight`); it may be nothing.
  virtual void tested(double loss, double weight) { (void)loss, (void)weight; }
  /// What the ranks that train with this one answer as one.
  [[nodiscard]] virtual RankAgreement& agreement();
  /// Has `reader`, in place of an earlier one, called for each part of the gradients that a step is
  /// made of: when they are final (summed over pieces and ranks), before anything clips, refuses or
  /// uses them. An empty one ends it. Throws: Unsupported for an optimizer that does not tell them.
  virtual void read_gradients(GradientReader reader);
  /// After a step: whether each rank was told a part that no other was; together they are all. A
  /// collective.
  [[nodiscard]] bool tells_shares() { return gradients().in_shares(); }
};

/// Tests with the parameters that an optimizer lends, until the end of its scope.
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

/// An optimizer in three steps, the seam that makes any optimizer distributable: what happens
/// before a batch, before a parameter is read, and how a gradient changes a parameter.
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), section IV-E.
class ThreeStepOptimizer : public Optimizer {
 public:
  /// `loss` names the network's scalar output.
  ThreeStepOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss);
  ~ThreeStepOptimizer() override;

  /// Called once a step, before anything else.
  virtual void new_input() {}
  /// Called once a parameter and step, before the forward run, if `prepares_params`.
  virtual void prepare_param(Parameter& parameter) { (void)parameter; }
  /// Parameters that lie on a device are spared two copies a step where nothing prepares them.
  [[nodiscard]] virtual bool prepares_params() const { return true; }
  /// Called once a parameter and step with its final gradient.
  virtual void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) = 0;

  /// Whether the first update waits for the last gradient. Otherwise parameters are updated while
  /// other gradients are still computed or on their way between ranks.
  [[nodiscard]] virtual bool wants_all_gradients() const { return false; }
  /// Whether updates read gradients of parameters that other ranks update (`update_own`), too. Not
  /// where a number of all does, such as `norm_of_gradients`.
  [[nodiscard]] virtual bool reads_all_gradients() const { return wants_all_gradients(); }
  /// Whether `update_parameters` keeps elements of gradients within `element_limit`.
  [[nodiscard]] virtual bool limits_elements() const { return false; }
  /// Called once a step with all gradients final, if it wants them; on every rank with the same.
  /// Whoever returns false refuses the step: nothing is updated.
  virtual bool gradients_final() { return true; }
  /// Called once a step that is not refused, before its first update.
  virtual void begin_update() {}
  /// Called once such a step, after its last update.
  virtual void end_update() {}
  /// Updates parameters of this range, whose gradients are final and count `factor` times. This one
  /// calls `update_rule` for each; a parameter that lies on a device is brought to the host and
  /// back.
  virtual void update_parameters(ParameterRange range, double factor);

  /// What a checkpoint keeps of the rule. Throws (restore): NotFound, ShapeError.
  [[nodiscard]] virtual ValueMap rule_state() const = 0;
  virtual void restore_rule(const ValueMap& state) = 0;
  /// Parameters for test runs in place of the trained ones. Called around each test run.
  virtual void begin_test_of_rule() {}
  virtual void end_test_of_rule() {}
  /// Gives up what is remembered of parameters that this process does not update.
  virtual void forget_others() {}

  /// new_input, prepare_param for all, forward and backward, update_parameters for all. Where
  /// nothing in the batch counts (`GradientSource::counted`) nothing is updated.
  const ValueMap& step(const Batch& batch) override;

  /// `step` in its parts, in this order, for who makes its own: a scheme whose gradients, or
  /// parameters, come from elsewhere. Modifiers, schedules and `begin_update` have their place in
  /// them, and with the network's own gradients the bits are those of `step`.
  ///
  ///     optimizer.begin_step(batch);
  ///     const ValueMap& outputs = optimizer.run_gradients(batch);
  ///     exchange(network);  // whatever the scheme does with `Parameter::gradient`
  ///     if (optimizer.begin_updates()) {
  ///       for (std::size_t i = 0; i < parameters; ++i) optimizer.update(i);
  ///       optimizer.end_step();
  ///     }
  ///
  /// Throws: ValueError where another part is due; Unsupported where an optimizer updates all
  /// parameters together.
  /// Counts the step; new_input, prepare_param for all. A step whose updates have not begun is
  /// given up.
  void begin_step(const Batch& batch);
  /// May be left out; `batch` lives until the step's end. When it returns, `Parameter::gradient` is
  /// this source's last word and may be changed, unless an observer ended the run early, and the
  /// step with it.
  const ValueMap& run_gradients(const Batch& batch);
  /// False where the step is refused and over. Modifiers that want all gradients see the network's.
  [[nodiscard]] bool begin_updates();
  /// By the network's gradient of this parameter, or one from elsewhere, which is copied there.
  /// Throws: ShapeError, TypeError for one that does not fit; ValueError for one from elsewhere
  /// where a modifier has judged the network's.
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
  /// As `LocalGradients::set_loss_weight`.
  void set_loss_weight(std::shared_ptr<LossWeight> weight);
  /// How much this rank's loss and gradient of a batch count in those of all ranks
  /// (`LossWeight::share`). Throws: as that.
  [[nodiscard]] double share_of(const Batch& batch);
  [[nodiscard]] RankAgreement& agreement() override { return *agreement_; }
  /// A distributed scheme's, instead of a rank's alone. Throws: ValueError for null.
  void set_agreement(std::shared_ptr<RankAgreement> agreement);
  void read_gradients(GradientReader reader) final { reader_ = std::move(reader); }

  /// The parameters whose gradients are final on this rank, in their order: for who wants all.
  [[nodiscard]] const std::vector<ParameterRange>& final_gradients() const { return final_; }
  /// The Euclidean norm of all final gradients together, without the step's factor, for whoever
  /// wants all. Where ranks hold shares of them (`GradientSource::in_shares`) it is of all shares:
  /// a collective, the same bits on each.
  [[nodiscard]] double norm_of_gradients();
  /// Sources by what they are made of, from the inside: one executor's, sums of several of its
  /// runs, sums over ranks, several such sums a step.
  enum class GradientLayer { own, accumulated, exchanged, repeated };
  using MakeSource =
      std::function<std::shared_ptr<GradientSource>(std::shared_ptr<GradientSource>)>;
  /// `make` is given the source of the layers inside.
  void add_gradient_layer(GradientLayer layer, MakeSource make);
  /// Takes part in every step from now on, after those that were added before. Throws: ValueError
  /// where one of its name does already.
  void add(std::shared_ptr<StepModifier> modifier);
  /// Those that were added, in their order.
  [[nodiscard]] const std::vector<std::shared_ptr<StepModifier>>& modifiers() const {
    return modifiers_;
  }
  /// How ranks tell each other the values of the parameters that each updates.
  struct ValueSharing {
    std::function<void(std::size_t part)> start;  ///< called for each part, in their order
    std::function<void()> finish;                 ///< waits until the values of all are known
  };
  /// From now on this process updates these parameters alone, a range (it may be empty) for each
  /// part of the gradients, and what its rule remembers of others is given up. Values are shared
  /// after whatever changes them: preparing, updates, a rule's parameters for test runs; those of a
  /// part while later ones are updated, all before the step ends.
  /// Throws: Unsupported for an optimizer to which all parameters are one.
  void update_own(std::vector<ParameterRange> own, ValueSharing sharing);
  [[nodiscard]] bool updates(std::size_t parameter) const;

  /// Steps that were made, refused ones among them.
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::int64_t refused_steps() const { return refused_; }

 protected:
  /// begin_updates, update for all, end_step, after `run_gradients`: of an optimizer with a `step`
  /// of its own.
  void update_all();
  /// The size that no element of a gradient goes above in this step's updates, after its factor.
  [[nodiscard]] double element_limit() const { return limit_; }

 private:
  /// What the step under way has come to.
  enum class Phase { none, begun, running, final, updating };
  void expect(bool in_order, const char* what) const;
  const ValueMap& start_gradients(const Batch& batch);
  /// `finished` is called for each part as it is final, if it is given.
  void finish_gradients(const std::function<void(ParameterRange)>& finished = {});
  void start_updates();
  void update_range(ParameterRange range, std::size_t part);
  [[nodiscard]] bool waits_for_all() const;
  void tell_gradients(ParameterRange range);
  [[nodiscard]] bool waits_for(const StepModifier& modifier) const;
  [[nodiscard]] bool reads_norm_first() const;
  void add_squares(ParameterRange range);
  /// Starts to share what is not under way of the parts before `end`.
  void share_until(std::size_t end);
  void share_all();
  [[nodiscard]] bool is_refused();
  void prepare(std::size_t index);
  void update_one(std::size_t index, double factor);
  /// The host's twin of a parameter that lies on a device.
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
  const Batch* batch_ = nullptr;  // of the step under way, and what it gave
  const ValueMap* outputs_ = nullptr;
  std::vector<ParameterRange> final_, parts_;  // in order and joined; by part of the source
  std::vector<double> squares_;  // of each final gradient, by parameter; empty: not known
  double factor_ = 1;            // on the gradients of this step
  double limit_ = std::numeric_limits<double>::infinity();
  bool judged_ = false;  // they were seen by who wanted all
  std::vector<Parameter> twins_;
  std::vector<ParameterRange> own_;  // by part, in their order; empty: all
  ValueSharing sharing_;
  std::size_t shared_ = 0;  // parts whose values are under way, or there
};

/// An optimizer that is nothing but an update rule of gradient, old value and own state.
class UpdateRuleOptimizer : public ThreeStepOptimizer {
 public:
  using ThreeStepOptimizer::ThreeStepOptimizer;

  /// Those who override these call them too, if they call `expect_begun`.
  void new_input() override { updates_ = false; }
  void begin_update() override { updates_ = true; }
  void end_update() override { updates_ = false; }

 protected:
  /// That what a step's updates need has been made. Throws: ValueError before `begin_update`.
  void expect_begun(std::size_t parameter) {
    if (!updates_) refuse_update(parameter);
  }

 private:
  [[noreturn]] void refuse_update(std::size_t parameter);

  bool updates_ = false;  // between begin_update and end_update
};

/// Its summary names the paper.
using OptimizerEntry =
    Entry<std::shared_ptr<Optimizer>(std::shared_ptr<GraphExecutor>, std::string loss)>;
/// d5's own optimizers, and a user's.
///
///     auto adam = optimizers().at("adam").make(executor, "loss", {{"learning_rate", 0.01}});
[[nodiscard]] Registry<OptimizerEntry>& optimizers();
/// A framework's native optimizers: a part of `Framework`.
class NativeOptimizers : public Registry<OptimizerEntry> {
 public:
  NativeOptimizers() : Registry("native optimizer") {}
};
/// One of `optimizers()`, or a framework's own: "torch/adam". Throws: NotFound, Unsupported.
[[nodiscard]] const OptimizerEntry& find_optimizer(std::string_view name);

}  // namespace d5
