// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/optimization/update_rule.hpp"

namespace d5 {

/// The base of update rules: it counts steps, and remembers named tensors of each parameter, zero
/// at first, in float32 for parameters of 16 bits.
class SlottedOptimizer : public UpdateRuleOptimizer {
 public:
  /// The shape of a slot of a parameter, by their places; without it that of the parameter.
  using SlotShape = std::function<Shape(std::size_t slot, Network& network, std::size_t parameter)>;

  SlottedOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss,
                   const std::vector<std::string>& slots, const SlotShape& shape_of = {});

  [[nodiscard]] bool prepares_params() const override { return false; }
  /// Those who override it call it too.
  void begin_update() override { ++step_, UpdateRuleOptimizer::begin_update(); }
  [[nodiscard]] ValueMap rule_state() const override;
  void restore_rule(const ValueMap& state) override;
  void forget_others() override;
  /// The rule by itself, of each group of parameters, first of those in none; empty where it cannot
  /// stand alone.
  [[nodiscard]] virtual std::vector<RuleGroup> rule_groups() const { return {}; }

 protected:
  /// From 1 in the first update; refused steps do not count.
  [[nodiscard]] std::int64_t step_number() const { return step_; }
  [[nodiscard]] Tensor& slot(std::size_t which, std::size_t parameter) {
    return slots_[which][parameter];
  }
  /// Of a parameter of 16 bits, in float32; null for others. It is kept in step with the parameter
  /// by whoever updates both.
  [[nodiscard]] float* master(std::size_t parameter);

 private:
  std::vector<ParameterSlots> slots_;
  std::optional<ParameterSlots> masters_;  // where there are parameters of 16 bits
  std::int64_t step_ = 0;
};

}  // namespace d5
