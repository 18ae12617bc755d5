// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/shared/state_parts.hpp"

namespace d5 {
namespace {

constexpr const char *kSteps = "modifier/steps", *kRefused = "modifier/refused";

std::string prefix_of(const StepModifier& modifier) { return "modifier/" + modifier.name() + "/"; }

}  // namespace

void Optimizer::read_gradients(GradientReader) {
  throw Unsupported(
      "this optimizer does not expose the gradients of its steps; leave gradient_norm out");
}

RankAgreement& Optimizer::agreement() {
  static RankAgreement alone;
  return alone;
}

void ThreeStepOptimizer::set_loss_weight(std::shared_ptr<LossWeight> weight) {
  own_gradients_->set_loss_weight(std::move(weight));
}

double ThreeStepOptimizer::share_of(const Batch& batch) {
  return loss_weight().share(*agreement_, batch);
}

ThreeStepOptimizer::ThreeStepOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss)
    : own_gradients_(std::make_shared<LocalGradients>(std::move(executor), std::move(loss))),
      gradients_(own_gradients_) {}

ThreeStepOptimizer::~ThreeStepOptimizer() = default;

void ThreeStepOptimizer::add_gradient_layer(GradientLayer layer, MakeSource make) {
  layers_[layer] = std::move(make);
  gradients_ = own_gradients_;
  for (const auto& [kind, wrap] : layers_) gradients_ = wrap(gradients_);
}

void ThreeStepOptimizer::add(std::shared_ptr<StepModifier> modifier) {
  const bool there = std::ranges::any_of(
      modifiers_, [&](const auto& other) { return other->name() == modifier->name(); });
  if (there) {
    throw ValueError(
        fmt::format("the optimizer already has a modifier {}, and the state of both would have one "
                    "name; give one of them",
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
    detail::add_part(state, prefix_of(*modifier), modifier->state());
  }
  return state;
}

void ThreeStepOptimizer::restore(const ValueMap& state) {
  restore_rule(state);
  if (modifiers_.empty()) return;
  steps_ = state_entry(state, kSteps, "modifiers of an optimizer").item<std::int64_t>();
  refused_ = state_entry(state, kRefused, "modifiers of an optimizer").item<std::int64_t>();
  for (const auto& modifier : modifiers_) {
    modifier->restore(detail::part_of(state, prefix_of(*modifier)));
  }
}

void ThreeStepOptimizer::begin_test() {
  begin_test_of_rule();
  share_all();
  for (const auto& modifier : modifiers_) modifier->begin_test(*this);
}

void ThreeStepOptimizer::end_test() {
  for (auto it = modifiers_.rbegin(); it != modifiers_.rend(); ++it) (*it)->end_test(*this);
  end_test_of_rule();
}

void ThreeStepOptimizer::tested(double loss, double weight) {
  if (modifiers_.empty() || agreement_->sum(weight) == 0) return;
  const double mean = agreement_->mean(loss, weight);
  for (const auto& modifier : modifiers_) modifier->tested(*this, mean);
}

std::string ThreeStepOptimizer::needs_tests() const {
  for (const auto& modifier : modifiers_) {
    if (std::string who = modifier->needs_tests(); !who.empty()) return who;
  }
  return {};
}

void ThreeStepOptimizer::set_agreement(std::shared_ptr<RankAgreement> agreement) {
  if (!agreement) {
    throw ValueError(
        fmt::format("optimizer of network '{}': its agreement is null; give a RankAgreement, which "
                    "is one rank alone",
                    printable(executor().network().name())));
  }
  agreement_ = std::move(agreement);
}

}  // namespace d5
