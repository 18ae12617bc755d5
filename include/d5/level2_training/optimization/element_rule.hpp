// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "d5/level2_training/optimization/parameter_slots.hpp"

/// Optional parts of a rule of `ElementOptimizer`, besides its formula.
///
/// Numbers of each parameter group, carried from step to step; float64, saved in checkpoints:
///
///     static constexpr std::array kNumbers{"momentum_product"};
///     static void advance(const Options&, std::int64_t step, std::array<double, 1>& numbers);
///     Rule(const Options&, std::int64_t step, const std::array<double, 1>& numbers);
///
/// Parameter value in test runs, computed from w and the slots:
///
///     T seen_by_tests(T w, T slot) const;
namespace d5::detail {

template <class Rule>
inline constexpr std::size_t kRuleNumbers = 0;
template <class Rule>
  requires requires { Rule::kNumbers; }
inline constexpr std::size_t kRuleNumbers<Rule> = Rule::kNumbers.size();

/// Numbers of all groups.
template <template <class> class Rule>
class RuleNumbers {
 public:
  using Options = typename Rule<float>::Options;
  static constexpr std::size_t kCount = kRuleNumbers<Rule<float>>;

  explicit RuleNumbers(std::size_t groups) : numbers_(groups) {}

  void advance(std::size_t group, const Options& options, std::int64_t step) {
    if constexpr (kCount > 0) Rule<float>::advance(options, step, numbers_[group]);
  }
  /// Numbers of one group.
  [[nodiscard]] std::array<double, kCount>& of(std::size_t group) { return numbers_[group]; }
  template <class T>
  [[nodiscard]] Rule<T> rule(std::size_t group, const Options& options, std::int64_t step) const {
    if constexpr (kCount > 0) {
      return Rule<T>(options, step, numbers_[group]);
    } else {
      return Rule<T>(options, step);
    }
  }

  void save(ValueMap& state) const {
    for_each_name([&](std::size_t n, const char* name) {
      Tensor values = Tensor::empty(DType::float64, {std::int64_t(numbers_.size())});
      for (std::size_t g = 0; g < numbers_.size(); ++g) values.data<double>()[g] = numbers_[g][n];
      state[name] = std::move(values);
    });
  }
  /// Throws: NotFound, ShapeError.
  void restore(const ValueMap& state) {
    for_each_name([&](std::size_t n, const char* name) {
      Tensor values = Tensor::empty(DType::float64, {std::int64_t(numbers_.size())});
      values.copy_from(state_entry(state, name, "optimizer"));
      for (std::size_t g = 0; g < numbers_.size(); ++g) numbers_[g][n] = values.data<double>()[g];
    });
  }

 private:
  template <class Body>
  static void for_each_name(const Body& body) {
    if constexpr (kCount > 0) {
      for (std::size_t n = 0; n < kCount; ++n) body(n, Rule<float>::kNumbers[n]);
    }
  }

  std::vector<std::array<double, kCount>> numbers_;
};

template <class Rule, std::size_t... S>
constexpr bool lends_to_tests(std::index_sequence<S...>) {
  return requires(const Rule& rule, const std::array<float, sizeof...(S)>& slots) {
    rule.seen_by_tests(0.0f, slots[S]...);
  };
}
template <template <class> class Rule, std::size_t kSlots>
inline constexpr bool kLendsToTests =
    lends_to_tests<Rule<float>>(std::make_index_sequence<kSlots>());

/// Replaces each element by its value for test runs, computed from the master if there is one.
template <class Wide, class Rule, class T, std::size_t N>
void lend_elements(const Rule& rule, std::span<T> values, const float* master,
                   const std::array<const void*, N>& slots) {
  const auto seen = [&]<std::size_t... S>(Wide w, std::size_t i, std::index_sequence<S...>) {
    return rule.seen_by_tests(w, static_cast<const Wide*>(slots[S])[i]...);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Wide w = master ? Wide(master[i]) : Wide(values[i]);
    values[i] = T(seen(w, i, std::make_index_sequence<N>()));
  }
}

}  // namespace d5::detail
