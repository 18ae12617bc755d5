// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "d5/level2_training/optimization/kept_parameters.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"

namespace d5::detail {

/// A modifier that averages the parameters for test runs; before its first value test runs use the
/// trained ones. Running statistics (of batch normalization) are not averaged: tests use those of
/// the trained network.
class ParameterAverage : public StepModifier {
 public:
  void attach(ThreeStepOptimizer& optimizer) override;
  void begin_test(ThreeStepOptimizer& optimizer) override;
  void end_test(ThreeStepOptimizer& optimizer) override;
  [[nodiscard]] ValueMap state() const override;
  void restore(const ValueMap& state) override;

 protected:
  /// Values that were averaged.
  [[nodiscard]] std::int64_t values() const { return values_; }
  /// average <- average + share * (parameters - average); the first value is the average itself.
  void take(ThreeStepOptimizer& optimizer, double share);

 private:
  std::optional<ParameterSlots> average_;
  std::int64_t values_ = 0;
  KeptParameters trained_;
};

}  // namespace d5::detail
