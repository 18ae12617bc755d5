// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "d5/level2_training/optimization/tensor_update.hpp"
#include "d5/level2_training/optimization/update_rule.hpp"

namespace d5::detail {

template <template <class> class Rule>
inline constexpr bool kShapesSlots =
    requires(const Shape& shape, const typename Rule<float>::Options& options) {
      Rule<float>::slot_shape(0, shape, options);
    };

/// Calls the rule of an update's type.
template <template <class> class Rule>
[[nodiscard]] auto by_type(const Rule<float>& single, const Rule<double>& wide) {
  return [&single, &wide]<class T>(const TensorUpdate<T>& update) {
    if constexpr (std::is_same_v<T, double>) {
      wide(update);
    } else {
      single(update);
    }
  };
}

/// The rule of a `TensorOptimizer` without the optimizer.
template <template <class> class Rule>
class TensorRule final : public UpdateRule {
 public:
  using Options = typename Rule<float>::Options;
  explicit TensorRule(const Options& options) : options_(options) {}

  void declare(OptionList& options) override { options_.declare(options); }
  [[nodiscard]] std::vector<std::string> slots() const override {
    return {Rule<float>::kSlots.begin(), Rule<float>::kSlots.end()};
  }
  [[nodiscard]] Shape slot_shape([[maybe_unused]] std::size_t slot,
                                 const Shape& parameter) const override {
    if constexpr (kShapesSlots<Rule>) {
      return Rule<float>::slot_shape(slot, parameter, options_);
    } else {
      return parameter;
    }
  }
  [[nodiscard]] std::vector<std::string> numbers() const override { return {}; }

  void begin_step(std::int64_t step, std::span<double>) override {
    single_.emplace(options_, step);
    double_.emplace(options_, step);
  }

  void update(std::span<const RuleParameter> parameters) override {
    for (const RuleParameter& parameter : parameters) {
      Parameter seen{.name = {}, .value = parameter.value, .gradient = {}};
      updater_.update(parameter.gradient, seen, parameter.slots, parameter.master,
                      by_type<Rule>(*single_, *double_));
    }
  }

 private:
  Options options_;
  std::optional<Rule<float>> single_;  // for the current step
  std::optional<Rule<double>> double_;
  TensorUpdater updater_;
};

}  // namespace d5::detail
