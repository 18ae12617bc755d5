// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/level2_training/optimization/grouped_options.hpp"
#include "d5/level2_training/optimization/slotted_optimizer.hpp"
#include "d5/level2_training/optimization/tensor_rule.hpp"
#include "d5/level2_training/optimization/tensor_update.hpp"

namespace d5 {

/// An optimizer whose rule needs the whole parameter: its norm, its rows, its product with itself.
/// `ElementOptimizer` is faster for elementwise rules.
///
///     template <class T>
///     struct Lars {
///       using Options = LarsOptions;
///       static constexpr std::array kSlots{"velocity"};
///       Lars(const Options& options, std::int64_t step);  // step: from 1
///       void operator()(const TensorUpdate<T>& parameter) const;
///     };
///     registry.add("lars", TensorOptimizer<Lars>::entry("..."));
///
/// T is float or double. Slots have the parameter's shape, unless the rule has
/// `static Shape slot_shape(std::size_t slot, const Shape& parameter, const Options&)`.
template <template <class> class Rule>
class TensorOptimizer : public SlottedOptimizer {
 public:
  using RuleOptions = typename Rule<float>::Options;
  using Options = GroupedOptions<RuleOptions>;

  TensorOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss, const Options& options)
      : SlottedOptimizer(std::move(executor), std::move(loss),
                         {Rule<float>::kSlots.begin(), Rule<float>::kSlots.end()},
                         slot_shapes(options)),
        groups_(options, this->executor().network(), hyper_parameters()) {}

  [[nodiscard]] static OptimizerEntry entry(std::string summary) {
    return OptimizerEntry::of<TensorOptimizer>(std::move(summary));
  }

  void begin_update() override {
    SlottedOptimizer::begin_update();
    singles_.clear(), doubles_.clear();
    for (std::size_t g = 0; g < groups_.count(); ++g) {
      singles_.emplace_back(groups_.group(g), step_number());
      doubles_.emplace_back(groups_.group(g), step_number());
    }
  }

  [[nodiscard]] std::vector<RuleGroup> rule_groups() const override {
    return groups_.template alone<Alone>();
  }

  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    expect_begun(index);
    std::array<Tensor*, kSlots> slots;
    for (std::size_t s = 0; s < kSlots; ++s) slots[s] = &slot(s, index);
    const std::size_t group = groups_.group_of(index);
    updater_.update(gradient, parameter, slots, master(index),
                    detail::by_type<Rule>(singles_[group], doubles_[group]));
  }

 private:
  using Alone = detail::TensorRule<Rule>;
  static_assert(std::derived_from<Alone, UpdateRule>);
  static constexpr std::size_t kSlots = Rule<float>::kSlots.size();

  static SlotShape slot_shapes(const Options& options) {
    if constexpr (detail::kShapesSlots<Rule>) {
      std::vector<std::string> patterns;
      for (const EntryChoice& group : options.groups) patterns.push_back(group.name);
      return [patterns, rules = options.rules(), group_of = std::vector<std::size_t>()](
                 std::size_t slot, Network& network, std::size_t i) mutable {
        if (group_of.empty()) group_of = groups_of_parameters(network, patterns);
        return Rule<float>::slot_shape(slot, network.parameters()[i].value.shape(),
                                       rules[group_of[i]]);
      };
    } else {
      return {};
    }
  }

  ParameterGroups<RuleOptions> groups_;
  std::vector<Rule<float>> singles_;  // by group, for this step
  std::vector<Rule<double>> doubles_;
  TensorUpdater updater_;
};

}  // namespace d5
