// SPDX-License-Identifier: Apache-2.0
// The steps of an optimizer, in parts and as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"

namespace d5 {

const ValueMap& ThreeStepOptimizer::step(const Batch& batch) {
  begin_step(batch);
  const ValueMap& outputs = start_gradients(batch);
  if (phase_ == Phase::running && !gradients_->counted()) phase_ = Phase::none;
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
  // The step ends even if its update throws.
  struct Over {
    Phase& phase;
    ~Over() { phase = Phase::none; }
  } const over{phase_};
  if (phase_ == Phase::running && waits_for_all()) {
    // Sums the squares of a part while it is in the cache and later parts are being communicated.
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

}  // namespace d5
