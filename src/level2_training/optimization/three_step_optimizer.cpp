// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "d5/level2_training/step_modifier.hpp"
#include "level2_training/optimization/shared/on_host.hpp"

namespace d5 {
namespace {

constexpr const char *kSteps = "modifier/steps", *kRefused = "modifier/refused";

std::string prefix_of(const StepModifier& modifier) { return "modifier/" + modifier.name() + "/"; }

}  // namespace

void Optimizer::read_gradients(GradientReader) {
  throw Unsupported(
      "this optimizer does not tell the gradients of its steps; leave gradient_norm out");
}

ThreeStepOptimizer::ThreeStepOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss)
    : own_gradients_(std::make_shared<LocalGradients>(std::move(executor), std::move(loss))),
      gradients_(own_gradients_) {}

ThreeStepOptimizer::~ThreeStepOptimizer() = default;

const ValueMap& ThreeStepOptimizer::step(const Batch& batch) {
  begin_step(batch);
  const ValueMap& outputs = run_gradients(batch);
  if (!executor().ended_early()) update_all();
  return outputs;
}

void ThreeStepOptimizer::begin_step(const Batch& batch) {
  batch_ = &batch;
  for (const auto& modifier : modifiers_) modifier->before_step(*this, batch);
  ++steps_;
  new_input();
  if (!prepares_params()) return;
  const std::size_t count = executor().network().parameters().size();
  for (std::size_t i = 0; i < count; ++i) {
    if (updates(i)) prepare(i);
  }
  if (share_) share_();
}

const ValueMap& ThreeStepOptimizer::run_gradients(const Batch& batch) {
  double factor = 1;
  for (const auto& modifier : modifiers_) factor *= modifier->loss_factor();
  factor_ = 1 / factor;
  outputs_ = &gradients_->run(batch, {.factor = factor, .all = waits_for_all()});
  return *outputs_;
}

bool ThreeStepOptimizer::waits_for_all() const {
  return wants_all_gradients() || std::ranges::any_of(modifiers_, [](const auto& modifier) {
           return modifier->wants_all_gradients();
         });
}

void ThreeStepOptimizer::update_all() {
  const bool waits = waits_for_all();
  const ParameterRange all{0, executor().network().parameters().size()};
  if (waits) {
    gradients_->finish_all();
    executor().synchronise();
    tell_gradients(all);
    if (is_refused()) {
      ++refused_;
      return;
    }
  }
  begin_update();
  const auto update = [&](ParameterRange range, std::size_t part) {
    Span span("training", "update");
    span.argument("part", part);
    update_parameters(range, factor_);
  };
  if (!waits) {
    for (std::size_t part = 0; part < gradients_->parts(); ++part) {
      const ParameterRange range = gradients_->finish(part);
      tell_gradients(range);
      update(range, part);
    }
  } else if (own_.empty()) {
    update(all, 0);
  } else {
    for (std::size_t part = 0; part < own_.size(); ++part) update(own_[part], part);
  }
  if (share_) share_();
  for (const auto& modifier : modifiers_) modifier->after_step(*this, *batch_, *outputs_);
}

void ThreeStepOptimizer::tell_gradients(ParameterRange range) {
  if (!reader_) return;
  executor().synchronise();
  reader_(range, factor_);
}

bool ThreeStepOptimizer::is_refused() {
  for (const auto& modifier : modifiers_) {
    if (modifier->wants_all_gradients() && !modifier->gradients_final(*this, factor_)) return true;
  }
  return wants_all_gradients() && !gradients_final();
}

void ThreeStepOptimizer::update_parameters(ParameterRange range, double factor) {
  for (std::size_t i = range.begin; i < range.end; ++i) update_one(i, factor);
}

void ThreeStepOptimizer::update_own(std::vector<ParameterRange> own, std::function<void()> share) {
  std::erase_if(own, [](const ParameterRange& range) { return range.begin == range.end; });
  // Nothing at all is a range, too: of no parameter.
  if (own.empty()) own.push_back({0, 0});
  own_ = std::move(own);
  share_ = std::move(share);
  forget_others();
}

bool ThreeStepOptimizer::updates(std::size_t parameter) const {
  return own_.empty() || std::ranges::any_of(own_, [&](const ParameterRange& range) {
           return range.begin <= parameter && parameter < range.end;
         });
}

void ThreeStepOptimizer::add_gradient_layer(GradientLayer layer, MakeSource make) {
  layers_[layer] = std::move(make);
  gradients_ = own_gradients_;
  for (const auto& [kind, wrap] : layers_) gradients_ = wrap(gradients_);
}

void ThreeStepOptimizer::add(std::shared_ptr<StepModifier> modifier) {
  const bool there = std::ranges::any_of(
      modifiers_, [&](const auto& other) { return other->name() == modifier->name(); });
  if (there) {
    throw ValueError(fmt::format(
        "a modifier {} takes part in the optimizer's steps already, and what both keep would have "
        "one name; give one of them",
        modifier->name()));
  }
  modifier->attach(*this);
  modifiers_.push_back(std::move(modifier));
}

ValueMap ThreeStepOptimizer::state() const {
  ValueMap state = rule_state();
  if (modifiers_.empty()) return state;
  state[kSteps] = Tensor::scalar(steps_);
  state[kRefused] = Tensor::scalar(refused_);
  for (const auto& modifier : modifiers_) {
    for (const auto& [name, value] : modifier->state()) state[prefix_of(*modifier) + name] = value;
  }
  return state;
}

void ThreeStepOptimizer::restore(const ValueMap& state) {
  restore_rule(state);
  if (modifiers_.empty()) return;
  steps_ = state_entry(state, kSteps, "modifiers of an optimizer").item<std::int64_t>();
  refused_ = state_entry(state, kRefused, "modifiers of an optimizer").item<std::int64_t>();
  for (const auto& modifier : modifiers_) {
    const std::string prefix = prefix_of(*modifier);
    ValueMap its;
    for (const auto& [name, value] : state) {
      if (name.starts_with(prefix)) its[name.substr(prefix.size())] = value;
    }
    modifier->restore(its);
  }
}

void ThreeStepOptimizer::begin_test() {
  begin_test_of_rule();
  if (share_) share_();
  for (const auto& modifier : modifiers_) modifier->begin_test(*this);
}

void ThreeStepOptimizer::end_test() {
  for (auto it = modifiers_.rbegin(); it != modifiers_.rend(); ++it) (*it)->end_test(*this);
  end_test_of_rule();
}

void ThreeStepOptimizer::tested(double loss) {
  if (modifiers_.empty()) return;
  const double mean = gradients_->mean(loss, {});
  for (const auto& modifier : modifiers_) modifier->tested(*this, mean);
}

Parameter& ThreeStepOptimizer::twin_of(const Parameter& parameter, std::size_t index) {
  if (twins_.size() <= index) twins_.resize(index + 1);
  Parameter& twin = twins_[index];
  if (twin.name != parameter.name || twin.value.shape() != parameter.value.shape()) {
    const DType dtype = parameter.value.dtype();
    const Shape& shape = parameter.value.shape();
    twin = {parameter.name, Tensor::zeros(dtype, shape), Tensor::zeros(dtype, shape)};
  }
  return twin;
}

void ThreeStepOptimizer::prepare(std::size_t index) {
  Parameter& parameter = executor().network().parameters()[index];
  if (parameter.value.device() == Device{}) return prepare_param(parameter);
  Parameter& twin = twin_of(parameter, index);
  twin.value.copy_from(parameter.value);
  prepare_param(twin);
  parameter.value.copy_from(twin.value);
}

void ThreeStepOptimizer::update_one(std::size_t index, double factor) {
  Parameter& parameter = executor().network().parameters()[index];
  if (parameter.value.device() == Device{}) {
    if (factor != 1) detail::scale(parameter.gradient, factor);
    return update_rule(parameter.gradient, parameter, index);
  }
  executor().synchronise();  // the gradient is final when the device has done its work
  Parameter& twin = twin_of(parameter, index);
  twin.value.copy_from(parameter.value);
  twin.gradient.copy_from(parameter.gradient);
  if (factor != 1) detail::scale(twin.gradient, factor);
  update_rule(twin.gradient, twin, index);
  parameter.value.copy_from(twin.value);
}

}  // namespace d5
