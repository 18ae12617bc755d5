// SPDX-License-Identifier: Apache-2.0
// Inspection of all gradients before the updates of a step: norms, limits, rejections.
#include <algorithm>
#include <cmath>
#include <ranges>

#include "d5/level2_training/optimization/gradient_norm.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"

namespace d5 {

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
    // Backwards: the updates, which run forwards, then find the first gradients in the cache.
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

}  // namespace d5
