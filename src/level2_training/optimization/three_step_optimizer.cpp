// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <utility>

#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"
#include "d5/level2_training/gradient_norm.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "d5/level2_training/step_modifier.hpp"
#include "level2_training/optimization/shared/on_host.hpp"
#include "level2_training/optimization/shared/state_parts.hpp"

namespace d5 {
namespace {

constexpr const char *kSteps = "modifier/steps", *kRefused = "modifier/refused";

std::string prefix_of(const StepModifier& modifier) { return "modifier/" + modifier.name() + "/"; }

}  // namespace

void Optimizer::read_gradients(GradientReader) {
  throw Unsupported(
      "this optimizer does not tell the gradients of its steps; leave gradient_norm out");
}

RankAgreement& Optimizer::agreement() {
  static RankAgreement alone;
  return alone;
}

ThreeStepOptimizer::ThreeStepOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss)
    : own_gradients_(std::make_shared<LocalGradients>(std::move(executor), std::move(loss))),
      gradients_(own_gradients_) {}

ThreeStepOptimizer::~ThreeStepOptimizer() = default;

const ValueMap& ThreeStepOptimizer::step(const Batch& batch) {
  begin_step(batch);
  const ValueMap& outputs = start_gradients(batch);
  if (phase_ == Phase::running) update_all();
  return outputs;
}

void ThreeStepOptimizer::expect(bool in_order, const char* what) const {
  if (in_order) return;
  constexpr std::array kWhen{"with no step under way, or after it was refused", "after begin_step",
                             "after run_gradients", "after run_gradients", "within the updates"};
  throw ValueError(fmt::format(
      "optimizer of network '{}': {} was called {}; a step is begin_step, run_gradients, "
      "begin_updates, update for each parameter, end_step",
      printable(gradients_->executor().network().name()), what, kWhen.at(std::size_t(phase_))));
}

void ThreeStepOptimizer::begin_step(const Batch& batch) {
  static const ValueMap nothing;
  expect(phase_ != Phase::updating, "begin_step");
  phase_ = Phase::none;
  batch_ = &batch;
  outputs_ = &nothing;
  factor_ = 1;
  for (const auto& modifier : modifiers_) modifier->before_step(*this, batch);
  ++steps_;
  new_input();
  const std::size_t count = executor().network().parameters().size();
  if (prepares_params()) {
    for (std::size_t i = 0; i < count; ++i) {
      if (updates(i)) prepare(i);
    }
    share_all();
  }
  final_.assign(1, {0, count});
  parts_ = final_;
  squares_.clear();
  phase_ = Phase::begun;
}

const ValueMap& ThreeStepOptimizer::run_gradients(const Batch& batch) {
  const ValueMap& outputs = start_gradients(batch);
  if (phase_ == Phase::running) finish_gradients();
  return outputs;
}

const ValueMap& ThreeStepOptimizer::start_gradients(const Batch& batch) {
  expect(phase_ == Phase::begun || phase_ == Phase::final, "run_gradients");
  phase_ = Phase::none;
  double factor = 1;
  for (const auto& modifier : modifiers_) factor *= modifier->loss_factor();
  factor_ = 1 / factor;
  outputs_ = &gradients_->run(batch, {.factor = factor, .all = reads_all_gradients()});
  if (!executor().ended_early()) phase_ = Phase::running;
  return *outputs_;
}

void ThreeStepOptimizer::finish_gradients(const std::function<void(ParameterRange)>& finished) {
  parts_.clear();
  squares_.clear();
  for (std::size_t part = 0; part < gradients_->parts(); ++part) {
    parts_.push_back(gradients_->finish(part));
    if (finished) finished(parts_.back());
  }
  final_ = parts_;
  executor().synchronise();
  std::erase_if(final_, [](const ParameterRange& range) { return range.begin == range.end; });
  std::ranges::sort(final_, {}, &ParameterRange::begin);
  std::size_t kept = 0;  // neighbours become one
  for (std::size_t i = 1; i < final_.size(); ++i) {
    if (final_[i].begin == final_[kept].end) {
      final_[kept].end = final_[i].end;
    } else {
      final_[++kept] = final_[i];
    }
  }
  if (!final_.empty()) final_.resize(kept + 1);
  phase_ = Phase::final;
}

bool ThreeStepOptimizer::waits_for_all() const {
  return wants_all_gradients() || std::ranges::any_of(modifiers_, [this](const auto& modifier) {
           return waits_for(*modifier);
         });
}

bool ThreeStepOptimizer::waits_for(const StepModifier& modifier) const {
  if (!modifier.wants_all_gradients()) return false;
  if (!modifier.element_limit() || !limits_elements() || wants_all_gradients()) return true;
  const auto last =
      std::ranges::find_if(modifiers_.rbegin(), modifiers_.rend(),
                           [](const auto& other) { return other->wants_all_gradients(); });
  return last->get() != &modifier;
}

bool ThreeStepOptimizer::reads_norm_first() const {
  const auto first = std::ranges::find_if(
      modifiers_, [this](const auto& modifier) { return waits_for(*modifier); });
  return first != modifiers_.end() && (*first)->reads_norm_alone();
}

void ThreeStepOptimizer::add_squares(ParameterRange range) {
  const auto& parameters = executor().network().parameters();
  squares_.resize(parameters.size());
  for (std::size_t i = range.begin; i < range.end; ++i) {
    squares_[i] = sum_of_squares(parameters[i].gradient);
  }
}

double ThreeStepOptimizer::norm_of_gradients() {
  const std::size_t count = executor().network().parameters().size();
  const bool in_shares = gradients_->in_shares();
  const auto ranges = in_shares ? final_ : std::vector<ParameterRange>{{0, count}};
  if (squares_.empty()) {
    // From the last on: what reads them next, updates from the first on, finds those in the cache.
    for (const ParameterRange& range : std::views::reverse(ranges)) {
      for (std::size_t i = range.end; i > range.begin; --i) add_squares({i - 1, i});
    }
  }
  double sum = 0;
  for (const ParameterRange& range : std::views::reverse(ranges)) {
    for (std::size_t i = range.end; i > range.begin; --i) {
      sum += in_shares ? agreement_->share_of(i - 1) * squares_[i - 1] : squares_[i - 1];
    }
  }
  return std::sqrt(in_shares ? agreement_->sum(sum) : sum);
}

bool ThreeStepOptimizer::begin_updates() {
  expect(phase_ == Phase::begun || phase_ == Phase::final, "begin_updates");
  const bool waits = waits_for_all();
  if (waits) {
    for (const ParameterRange& range : final_) tell_gradients(range);
    if (is_refused()) {
      ++refused_;
      phase_ = Phase::none;
      return false;
    }
  }
  start_updates();
  judged_ = waits;
  return true;
}

void ThreeStepOptimizer::start_updates() {
  limit_ = std::numeric_limits<double>::infinity();
  for (const auto& modifier : modifiers_) {
    if (modifier->wants_all_gradients() && !waits_for(*modifier)) {
      limit_ = modifier->element_limit().value_or(limit_);
    }
  }
  shared_ = 0;
  begin_update();
  judged_ = false;
  phase_ = Phase::updating;
}

void ThreeStepOptimizer::update(std::size_t index) {
  expect(phase_ == Phase::updating, "update");
  const std::size_t count = executor().network().parameters().size();
  if (index >= count) {
    throw ValueError(
        fmt::format("optimizer of network '{}': update of parameter {}, expected 0 to "
                    "{}",
                    printable(executor().network().name()), index, std::int64_t(count) - 1));
  }
  update_range({index, index + 1}, index);
}

void ThreeStepOptimizer::update(std::size_t index, const Tensor& gradient) {
  auto& parameters = executor().network().parameters();
  if (phase_ == Phase::updating && index < parameters.size()) {
    Parameter& parameter = parameters[index];
    const auto message = [&](const char* what) {
      return fmt::format("optimizer of network '{}': the gradient given for parameter '{}' {}",
                         printable(executor().network().name()), printable(parameter.name), what);
    };
    if (gradient.raw() != parameter.gradient.raw()) {
      if (judged_) {
        throw ValueError(message(
            "is not the one that was judged as a whole (clip_norm, loss_scale, ...); write it into "
            "the parameter's gradient before begin_updates"));
      }
      if (gradient.shape() != parameter.gradient.shape()) {
        throw ShapeError(message("has another shape than the parameter; give one of its shape"));
      }
      if (gradient.dtype() != parameter.gradient.dtype()) {
        throw TypeError(message("has another type than the parameter's; cast it"));
      }
      parameter.gradient.copy_from(gradient);
    }
  }
  update(index);
}

void ThreeStepOptimizer::end_step() {
  expect(phase_ == Phase::updating, "end_step");
  phase_ = Phase::none;
  end_update();
  share_until(own_.size());
  if (sharing_.finish) sharing_.finish();
  for (const auto& modifier : modifiers_) modifier->after_step(*this, *batch_, *outputs_);
}

void ThreeStepOptimizer::update_all() {
  // Over in any case: a step whose update throws is the last word of that update, not of the next.
  struct Over {
    Phase& phase;
    ~Over() { phase = Phase::none; }
  } const over{phase_};
  if (phase_ == Phase::running && waits_for_all()) {
    // While later parts are on their way, and this one is in the cache.
    const bool adds = gradients_->parts() > 1 && reads_norm_first();
    std::function<void(ParameterRange)> add;
    if (adds) add = [this](ParameterRange range) { add_squares(range); };
    finish_gradients(add);
  }
  if (phase_ == Phase::running) {
    start_updates();
    for (std::size_t part = 0; part < gradients_->parts(); ++part) {
      update_range(gradients_->finish(part), part);
      share_until(part + 1);
    }
  } else {
    if (!begin_updates()) return;
    const auto& ranges = sharing_.start ? parts_ : final_;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      update_range(ranges[i], i);
      if (sharing_.start) share_until(i + 1);
    }
  }
  end_step();
}

void ThreeStepOptimizer::update_range(ParameterRange range, std::size_t part) {
  if (!judged_) tell_gradients(range);
  Span span("training", "update");
  span.argument("part", part);
  update_parameters(range, factor_);
}

void ThreeStepOptimizer::tell_gradients(ParameterRange range) {
  if (!reader_) return;
  executor().synchronise();
  reader_(range, factor_);
}

bool ThreeStepOptimizer::is_refused() {
  for (const auto& modifier : modifiers_) {
    if (!waits_for(*modifier)) continue;
    if (!modifier->gradients_final(*this, factor_)) return true;
    if (!modifier->reads_norm_alone()) squares_.clear();
  }
  return wants_all_gradients() && !gradients_final();
}

void ThreeStepOptimizer::update_parameters(ParameterRange range, double factor) {
  for (std::size_t i = range.begin; i < range.end; ++i) update_one(i, factor);
}

void ThreeStepOptimizer::update_own(std::vector<ParameterRange> own, ValueSharing sharing) {
  own_ = std::move(own);
  sharing_ = std::move(sharing);
  forget_others();
}

void ThreeStepOptimizer::share_until(std::size_t end) {
  if (!sharing_.start) return;
  for (; shared_ < std::min(end, own_.size()); ++shared_) sharing_.start(shared_);
}

void ThreeStepOptimizer::share_all() {
  shared_ = 0;
  share_until(own_.size());
  if (sharing_.finish) sharing_.finish();
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

void ThreeStepOptimizer::tested(double loss, std::int64_t samples) {
  if (modifiers_.empty() || agreement_->sum(double(samples)) == 0) return;
  const double mean = agreement_->mean(loss, double(samples));
  for (const auto& modifier : modifiers_) modifier->tested(*this, mean);
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
