// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/slotted_optimizer.hpp"

#include <algorithm>

namespace d5 {
namespace {

bool has_short_type(const Parameter& parameter) {
  return parameter.value.dtype() == DType::float16 || parameter.value.dtype() == DType::bfloat16;
}

}  // namespace

SlottedOptimizer::SlottedOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss,
                                   const std::vector<std::string>& slots, const SlotShape& shape_of)
    : UpdateRuleOptimizer(std::move(executor), std::move(loss)) {
  Network& network = this->executor().network();
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (shape_of) {
      slots_.emplace_back(slots[s], network,
                          [&](std::size_t i) { return shape_of(s, network, i); });
    } else {
      slots_.emplace_back(slots[s], network);
    }
  }
  if (std::ranges::any_of(network.parameters(), has_short_type))
    masters_.emplace("master", network);
}

ValueMap SlottedOptimizer::rule_state() const {
  ValueMap state{{"step", Tensor::scalar(step_)}};
  for (const auto& slot : slots_) slot.save(state);
  if (masters_) masters_->save(state);
  return state;
}

void SlottedOptimizer::restore_rule(const ValueMap& state) {
  step_ = state_entry(state, "step", "optimizer").item<std::int64_t>();
  for (auto& slot : slots_) slot.restore(state);
  if (masters_) masters_->restore(state);
}

void SlottedOptimizer::forget_others() {
  const auto kept = [this](std::size_t parameter) { return updates(parameter); };
  for (auto& slot : slots_) slot.forget_all_but(kept);
  if (masters_) masters_->forget_all_but(kept);
}

float* SlottedOptimizer::master(std::size_t parameter) {
  if (!masters_ || !has_short_type(executor().network().parameters()[parameter])) return nullptr;
  return (*masters_)[parameter].data<float>();
}

}  // namespace d5
