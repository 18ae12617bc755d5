// SPDX-License-Identifier: Apache-2.0
#include "fused_optimizer.hpp"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_fused_adagrad.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/InferenceMode.h>

#include <optional>

#include "d5/level2_training/optimization/grouped_options.hpp"
#include "d5/level2_training/optimization/optimizer_options.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "tensor_view.hpp"

namespace d5::torch {
namespace {

/// One of torch's fused updates, on all parameters of a group at once.
template <class Rule>
class FusedOptimizer : public UpdateRuleOptimizer {
 public:
  using Options = GroupedOptions<Rule>;

  FusedOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss, const Options& options)
      : UpdateRuleOptimizer(std::move(executor), std::move(loss)),
        groups_(options, network(), hyper_parameters()) {
    const c10::InferenceMode without_autograd;
    for (Parameter& parameter : network().parameters()) {
      parameters_.push_back(wrap(parameter.value));
      gradients_.push_back(wrap(parameter.gradient));
    }
  }

  [[nodiscard]] bool prepares_params() const override { return false; }
  void update_rule(const Tensor&, Parameter&, std::size_t index) override {
    update_parameters({index, index + 1}, 1);
  }
  void update_parameters(ParameterRange range, double factor) override {
    if (range.begin == range.end) return;
    this->expect_begun(range.begin);
    const c10::InferenceMode without_autograd;
    for (std::size_t group = 0; group < groups_.count(); ++group) {
      chosen_.clear();
      for (std::size_t i = range.begin; i < range.end; ++i) {
        if (groups_.group_of(i) == group) chosen_.push_back(i);
      }
      if (chosen_.empty()) continue;
      const std::vector<at::Tensor> gradients = those(gradients_);
      if (factor != 1) at::_foreach_mul_(gradients, factor);
      update(groups_.group(group), those(parameters_), gradients);
    }
  }

 protected:
  using Tensors = std::vector<at::Tensor>;
  virtual void update(const Rule& options, const Tensors& parameters, const Tensors& gradients) = 0;

  Network& network() { return executor().network(); }
  [[nodiscard]] const Rule& base() const { return groups_.group(0); }
  /// The entries of parameters that are updated now.
  [[nodiscard]] Tensors those(const Tensors& all) const {
    Tensors result;
    if (all.empty()) return result;
    for (const std::size_t i : chosen_) result.push_back(all[i]);
    return result;
  }
  /// d5's slots as torch's tensors.
  Tensors views(ParameterSlots& slots) const {
    const c10::InferenceMode without_autograd;
    Tensors result;
    for (std::size_t i = 0; i < parameters_.size(); ++i) result.push_back(wrap(slots[i]));
    return result;
  }
  [[nodiscard]] std::size_t count() const { return parameters_.size(); }

 private:
  ParameterGroups<Rule> groups_;
  Tensors parameters_, gradients_;
  std::vector<std::size_t> chosen_;
};

class Momentum final : public FusedOptimizer<MomentumOptions> {
 public:
  Momentum(std::shared_ptr<GraphExecutor> executor, std::string loss, const Options& options)
      : FusedOptimizer(std::move(executor), std::move(loss), options),
        velocities_("velocity", network()),
        velocity_views_(views(velocities_)) {}

  void begin_update() override {
    FusedOptimizer::begin_update();
    ++step_;
  }
  ValueMap rule_state() const override {
    ValueMap state{{"step", Tensor::scalar(step_)}};
    velocities_.save(state);
    return state;
  }
  void restore_rule(const ValueMap& state) override {
    step_ = state_entry(state, "step", "optimizer momentum of torch").item<std::int64_t>();
    velocities_.restore(state);
  }

 protected:
  void update(const MomentumOptions& options, const Tensors& parameters,
              const Tensors& gradients) override {
    at::_fused_sgd_(parameters, gradients, those(velocity_views_), options.weight_decay,
                    options.momentum, options.learning_rate, options.dampening, options.nesterov,
                    /*maximize=*/false, /*is_first_step=*/step_ == 1);
  }

 private:
  ParameterSlots velocities_;
  Tensors velocity_views_;
  std::int64_t step_ = 0;
};

class Sgd final : public FusedOptimizer<SgdOptions> {
 public:
  using FusedOptimizer::FusedOptimizer;
  ValueMap rule_state() const override { return {}; }
  void restore_rule(const ValueMap&) override {}

 protected:
  void update(const SgdOptions& options, const Tensors& parameters,
              const Tensors& gradients) override {
    at::_fused_sgd_(parameters, gradients, {}, options.weight_decay, /*momentum=*/0,
                    options.learning_rate, /*dampening=*/0, /*nesterov=*/false,
                    /*maximize=*/false, /*is_first_step=*/false);
  }
};

/// Base of torch's adaptive rules, which take the step number in a tensor for each parameter.
template <class Rule>
class CountingOptimizer : public FusedOptimizer<Rule> {
 public:
  CountingOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss,
                    const typename FusedOptimizer<Rule>::Options& options)
      : FusedOptimizer<Rule>(std::move(executor), std::move(loss), options) {
    const c10::InferenceMode without_autograd;
    for (std::size_t i = 0; i < this->count(); ++i) {
      steps_.push_back(at::scalar_tensor(0, at::kFloat));
    }
  }

  void begin_update() override {
    FusedOptimizer<Rule>::begin_update();
    const c10::InferenceMode without_autograd;
    ++step_;
    for (auto& step : steps_) step.fill_(double(step_));
  }
  ValueMap rule_state() const override {
    ValueMap state{{"step", Tensor::scalar(step_)}};
    for (const ParameterSlots& slots : slots_) slots.save(state);
    return state;
  }
  void restore_rule(const ValueMap& state) override {
    step_ = state_entry(state, "step", "an optimizer of torch's").item<std::int64_t>();
    for (ParameterSlots& slots : slots_) slots.restore(state);
  }

 protected:
  using Tensors = typename FusedOptimizer<Rule>::Tensors;
  void add_slots(const std::string& name) {
    views_.push_back(this->views(slots_.emplace_back(name, this->network())));
  }
  [[nodiscard]] Tensors slots(std::size_t which) const { return this->those(views_[which]); }
  [[nodiscard]] Tensors steps() const { return this->those(steps_); }
  [[nodiscard]] std::int64_t step_number() const { return step_; }

 private:
  std::vector<ParameterSlots> slots_;
  std::vector<Tensors> views_;
  Tensors steps_;
  std::int64_t step_ = 0;
};

/// adam and adamw, which differ only in the call; amsgrad has one more slot.
template <class Rule, auto kUpdate>
class AdamFamily final : public CountingOptimizer<Rule> {
 public:
  using Options = typename FusedOptimizer<Rule>::Options;
  AdamFamily(std::shared_ptr<GraphExecutor> executor, std::string loss, const Options& options)
      : CountingOptimizer<Rule>(std::move(executor), std::move(loss), options) {
    this->add_slots("first_moment");
    this->add_slots("second_moment");
    for (const Rule& rule : options.rules()) amsgrad_ = amsgrad_ || rule.amsgrad;
    if (amsgrad_) this->add_slots("largest_second_moment");
  }

 protected:
  using Tensors = typename CountingOptimizer<Rule>::Tensors;
  void update(const Rule& options, const Tensors& parameters, const Tensors& gradients) override {
    kUpdate(parameters, gradients, this->slots(0), this->slots(1),
            options.amsgrad ? this->slots(2) : Tensors{}, this->steps(), options.learning_rate,
            options.beta1, options.beta2, options.weight_decay, options.epsilon, options.amsgrad,
            /*maximize=*/false, {}, {});
  }

 private:
  bool amsgrad_ = false;
};

using UpdateOfAdam = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                              at::TensorList, at::TensorList, double, double, double, double,
                              double, bool, bool, const std::optional<at::Tensor>&,
                              const std::optional<at::Tensor>&);
using Adam = AdamFamily<AdamOptions, static_cast<UpdateOfAdam>(at::_fused_adam_)>;
using AdamW = AdamFamily<AdamWOptions, static_cast<UpdateOfAdam>(at::_fused_adamw_)>;

class Adagrad final : public CountingOptimizer<AdagradOptions> {
 public:
  Adagrad(std::shared_ptr<GraphExecutor> executor, std::string loss, const Options& options)
      : CountingOptimizer(std::move(executor), std::move(loss), options) {
    add_slots("sum_of_squares");
  }

 protected:
  void update(const AdagradOptions& options, const Tensors& parameters,
              const Tensors& gradients) override {
    if (step_number() == 1) at::_foreach_add_(slots(0), options.initial_accumulator_value);
    at::_fused_adagrad_(parameters, gradients, slots(0), steps(), options.learning_rate,
                        options.learning_rate_decay, options.weight_decay, options.epsilon,
                        /*maximize=*/false);
  }
};

}  // namespace

void register_optimizers(NativeOptimizers& registry) {
  registry.add("sgd", OptimizerEntry::of<Sgd>("torch's fused SGD"));
  registry.add("momentum", OptimizerEntry::of<Momentum>("torch's fused SGD with momentum"));
  registry.add("adam", OptimizerEntry::of<Adam>("torch's fused Adam"));
  registry.add("adamw", OptimizerEntry::of<AdamW>("torch's fused AdamW"));
  registry.add("adagrad", OptimizerEntry::of<Adagrad>("torch's fused AdaGrad"));
}

}  // namespace d5::torch
