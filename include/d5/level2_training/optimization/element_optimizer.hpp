// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/level2_training/optimization/element_rule.hpp"
#include "d5/level2_training/optimization/element_sweep.hpp"
#include "d5/level2_training/optimization/element_update.hpp"
#include "d5/level2_training/optimization/grouped_options.hpp"
#include "d5/level2_training/optimization/kept_parameters.hpp"
#include "d5/level2_training/optimization/slotted_optimizer.hpp"

namespace d5 {

/// An optimizer with an elementwise rule. The rule declares its options, the names of its slots
/// (per-parameter state), and the formula; its coefficients are computed once per step:
///
///     template <class T>
///     struct Momentum {
///       using Options = MomentumOptions;
///       static constexpr std::array kSlots{"velocity"};
///       Momentum(const Options& options, std::int64_t step);  // step: from 1
///       void operator()(T g, T& w, T& v) const {
///         v = momentum * v + g;
///         w -= rate * v;
///       }
///       T rate, momentum;
///     };
///     registry.add("momentum", ElementOptimizer<Momentum>::entry("..."));
///
/// T is float or double. A 16-bit parameter has a float master copy, which the rule updates; the
/// parameter is the rounded master. Elements are updated by several threads and in SIMD. Results
/// depend only on the element, so neither changes a bit.
///
/// Optional parts of a rule are described in `element_rule.hpp`: numbers carried from step to step,
/// and the parameter values used in test runs.
template <template <class> class Rule>
class ElementOptimizer : public SlottedOptimizer {
 public:
  using RuleOptions = typename Rule<float>::Options;
  using Options = GroupedOptions<RuleOptions>;

  ElementOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss,
                   const Options& options)
      : SlottedOptimizer(std::move(executor), std::move(loss),
                         {Rule<float>::kSlots.begin(), Rule<float>::kSlots.end()}),
        groups_(options, this->executor().network(), hyper_parameters()),
        numbers_(groups_.count()) {}

  [[nodiscard]] static OptimizerEntry entry(std::string summary) {
    return OptimizerEntry::of<ElementOptimizer>(std::move(summary));
  }

  void begin_update() override {
    SlottedOptimizer::begin_update();
    singles_.clear(), doubles_.clear();
    for (std::size_t g = 0; g < groups_.count(); ++g) {
      numbers_.advance(g, groups_.group(g), step_number());
      singles_.push_back(rule<float>(g));
      doubles_.push_back(rule<double>(g));
    }
  }

  [[nodiscard]] ValueMap rule_state() const override {
    ValueMap state = SlottedOptimizer::rule_state();
    numbers_.save(state);
    return state;
  }
  void restore_rule(const ValueMap& state) override {
    SlottedOptimizer::restore_rule(state);
    numbers_.restore(state);
  }

  [[nodiscard]] std::vector<RuleGroup> rule_groups() const override {
    return groups_.template alone<Alone>();
  }

  void begin_test_of_rule() override {
    if constexpr (detail::kLendsToTests<Rule, kSlots>) {
      if (step_number() == 0) return;  // no state yet
      Network& network = executor().network();
      kept_.keep(network);
      for (std::size_t i = 0; i < network.parameters().size(); ++i) {
        if (updates(i)) lend(i);
      }
    }
  }
  void end_test_of_rule() override { kept_.give_back(executor().network()); }

  [[nodiscard]] bool limits_elements() const override { return true; }

  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    expect_begun(index);
    const detail::ElementSweep sweep = sweep_of(gradient, parameter, index);
    update(sweep, 0, gradient.elements(), {.factor = 1, .limit = element_limit()});
  }

  void update_parameters(ParameterRange range, double factor) override {
    auto& parameters = executor().network().parameters();
    if (range.begin < range.end && parameters[range.begin].value.device() != Device{}) {
      return SlottedOptimizer::update_parameters(range, factor);
    }
    expect_begun(range.begin);
    sweeps_.clear();
    for (std::size_t i = range.begin; i < range.end; ++i) {
      sweeps_.push_back(sweep_of(parameters[i].gradient, parameters[i], i));
    }
    detail::run_sweeps(
        sweeps_, [&](const detail::ElementSweep& sweep, std::int64_t begin, std::int64_t end) {
          update(sweep, begin, end, {.factor = factor, .limit = element_limit()});
        });
  }

 private:
  using Alone = detail::ElementUpdate<Rule>;
  static_assert(std::derived_from<Alone, UpdateRule>);
  static constexpr std::size_t kSlots = Rule<float>::kSlots.size();

  template <class T>
  [[nodiscard]] Rule<T> rule(std::size_t group) const {
    return numbers_.template rule<T>(group, groups_.group(group), step_number());
  }

  void lend(std::size_t index) {
    Parameter& parameter = executor().network().parameters()[index];
    Tensor seen = Tensor::empty(parameter.value.dtype(), parameter.value.shape());
    seen.copy_from(parameter.value);
    std::array<const void*, kSlots> slots;
    for (std::size_t s = 0; s < kSlots; ++s) slots[s] = slot(s, index).raw();
    const std::size_t group = groups_.group_of(index);
    dispatch(FloatTypes{}, seen.dtype(), "an optimizer's parameter", [&]<class T>() {
      using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
      detail::lend_elements<Wide>(rule<Wide>(group), seen.span<T>(), master(index), slots);
    });
    parameter.value.copy_from(seen);
  }

  detail::ElementSweep sweep_of(const Tensor& gradient, Parameter& parameter, std::size_t index) {
    detail::ElementSweep sweep{.gradient = gradient.raw(),
                               .value = parameter.value.raw(),
                               .dtype = gradient.dtype(),
                               .elements = gradient.elements(),
                               .parameter = index};
    for (std::size_t s = 0; s < kSlots; ++s) sweep.slots[s] = slot(s, index).raw();
    sweep.master = master(index);
    return sweep;
  }

  void update(const detail::ElementSweep& sweep, std::int64_t begin, std::int64_t end,
              const detail::GradientChange<double>& change) const {
    const std::size_t group = groups_.group_of(sweep.parameter);
    detail::sweep_by_type<Rule>(singles_[group], doubles_[group], sweep, begin, end, change);
  }

  ParameterGroups<RuleOptions> groups_;
  detail::RuleNumbers<Rule> numbers_;
  KeptParameters kept_;
  std::vector<Rule<float>> singles_;  // by group, for this step
  std::vector<Rule<double>> doubles_;
  std::vector<detail::ElementSweep> sweeps_;
};

/// Uses `Other` instead of `Rule` if any parameter group sets the option `wants`. `Other` has more
/// slots, and computes the same as `Rule` for groups that do not set it.
template <template <class> class Rule, template <class> class Other>
[[nodiscard]] OptimizerEntry either_rule(std::string summary, bool Rule<float>::Options::* wants) {
  using Options = GroupedOptions<typename Rule<float>::Options>;
  return OptimizerEntry::with<Options>(
      std::move(summary),
      [wants](std::shared_ptr<GraphExecutor> executor, std::string loss,
              const Options& options) -> std::shared_ptr<Optimizer> {
        for (const auto& rule : options.rules()) {
          if (rule.*wants) {
            return std::make_shared<ElementOptimizer<Other>>(std::move(executor), std::move(loss),
                                                             options);
          }
        }
        return std::make_shared<ElementOptimizer<Rule>>(std::move(executor), std::move(loss),
                                                        options);
      });
}

}  // namespace d5
