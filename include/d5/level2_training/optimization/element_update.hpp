// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/level2_training/optimization/element_rule.hpp"
#include "d5/level2_training/optimization/element_sweep.hpp"
#include "d5/level2_training/optimization/update_rule.hpp"

namespace d5::detail {

/// The rule of an `ElementOptimizer` without the optimizer.
template <template <class> class Rule>
class ElementUpdate final : public UpdateRule {
 public:
  using Options = typename Rule<float>::Options;
  explicit ElementUpdate(const Options& options) : options_(options), numbers_(1) {}

  void declare(OptionList& options) override { options_.declare(options); }
  [[nodiscard]] std::vector<std::string> slots() const override {
    return {Rule<float>::kSlots.begin(), Rule<float>::kSlots.end()};
  }
  [[nodiscard]] Shape slot_shape(std::size_t, const Shape& parameter) const override {
    return parameter;
  }
  [[nodiscard]] std::vector<std::string> numbers() const override {
    if constexpr (kNumbers > 0) {
      return {Rule<float>::kNumbers.begin(), Rule<float>::kNumbers.end()};
    } else {
      return {};
    }
  }

  void begin_step(std::int64_t step, [[maybe_unused]] std::span<double> numbers) override {
    if constexpr (kNumbers > 0) std::ranges::copy(numbers, numbers_.of(0).begin());
    numbers_.advance(0, options_, step);
    single_.emplace(numbers_.template rule<float>(0, options_, step));
    double_.emplace(numbers_.template rule<double>(0, options_, step));
    if constexpr (kNumbers > 0) std::ranges::copy(numbers_.of(0), numbers.begin());
  }

  void update(std::span<const RuleParameter> parameters) override {
    sweeps_.clear();
    for (const RuleParameter& parameter : parameters) {
      ElementSweep& sweep =
          sweeps_.emplace_back(ElementSweep{.gradient = parameter.gradient.raw(),
                                            .value = parameter.value.raw(),
                                            .master = parameter.master,
                                            .dtype = parameter.value.dtype(),
                                            .elements = parameter.value.elements(),
                                            .parameter = sweeps_.size()});
      for (std::size_t s = 0; s < parameter.slots.size(); ++s) {
        sweep.slots[s] = parameter.slots[s]->raw();
      }
    }
    run_sweeps(sweeps_, [&](const ElementSweep& sweep, std::int64_t begin, std::int64_t end) {
      sweep_by_type<Rule>(*single_, *double_, sweep, begin, end, {});
    });
  }

 private:
  static constexpr std::size_t kNumbers = RuleNumbers<Rule>::kCount;

  Options options_;
  RuleNumbers<Rule> numbers_;
  std::optional<Rule<float>> single_;  // for the current step
  std::optional<Rule<double>> double_;
  std::vector<ElementSweep> sweeps_;
};

}  // namespace d5::detail
