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

/// Base of update rules: counts steps and keeps named slots, one tensor per parameter, zero at
/// first, float32 for 16-bit parameters.
class SlottedOptimizer : public UpdateRuleOptimizer {
 public:
  /// Shape of a parameter's slot, by their indices; without it the parameter's shape.
  using SlotShape = std::function<Shape(std::size_t slot, Network& network, std::size_t parameter)>;

  SlottedOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss,
                   const std::vector<std::string>& slots, const SlotShape& shape_of = {});

  [[nodiscard]] bool prepares_params() const override { return false; }
  /// Overriders must call it.
  void begin_update() override { ++step_, UpdateRuleOptimizer::begin_update(); }
  [[nodiscard]] ValueMap rule_state() const override;
  void restore_rule(const ValueMap& state) override;
  void forget_others() override;
  /// Rule without the optimizer for each group of parameters, first for those in no group; empty if
  /// it cannot stand alone.
  [[nodiscard]] virtual std::vector<RuleGroup> rule_groups() const { return {}; }

 protected:
  /// 1 in the first update; rejected steps do not count.
  [[nodiscard]] std::int64_t step_number() const { return step_; }
  [[nodiscard]] Tensor& slot(std::size_t which, std::size_t parameter) {
    return slots_[which][parameter];
  }
  /// Master copy of a 16-bit parameter, in float32; null for others. The code that updates both
  /// keeps them consistent.
  [[nodiscard]] float* master(std::size_t parameter);

 private:
  std::vector<ParameterSlots> slots_;
  std::optional<ParameterSlots> masters_;  // only with 16-bit parameters
  std::int64_t step_ = 0;
};

}  // namespace d5
