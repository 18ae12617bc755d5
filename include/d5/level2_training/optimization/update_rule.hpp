// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/entries/settings.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// A parameter on the host that a rule updates in place.
struct RuleParameter {
  const Tensor& gradient;
  Tensor& value;
  std::vector<Tensor*> slots;  ///< in the order of `UpdateRule::slots`
  float* master = nullptr;     ///< float32 master copy of a 16-bit value
};

/// An optimizer's rule without the optimizer; the caller holds its state. Results are bitwise those
/// of the optimizer.
///
///     auto rule = make_update_rule("adam", {{"learning_rate", 0.01}});
///     rule->begin_step(1, {});
///     rule->update({{.gradient = g, .value = w, .slots = {&first_moment, &second_moment}}});
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  /// Declares the current options; `HyperParameters::bind` binds them.
  virtual void declare(OptionList& options) = 0;
  /// Names of its tensors per parameter: zero before the first step, float32 for a 16-bit
  /// parameter.
  [[nodiscard]] virtual std::vector<std::string> slots() const = 0;
  [[nodiscard]] virtual Shape slot_shape(std::size_t slot, const Shape& parameter) const = 0;
  /// Names of its scalar state: zero before the first step.
  [[nodiscard]] virtual std::vector<std::string> numbers() const = 0;

  /// Called once per step; steps count from 1. Advances `numbers`.
  /// Throws: ValueError for options with which the rule cannot continue.
  virtual void begin_step(std::int64_t step, std::span<double> numbers) = 0;
  /// Whether `other` has the same formula. A class with several formulas, such as rules written in
  /// another language, overrides it.
  [[nodiscard]] virtual bool has_formula_of(const UpdateRule& other) const;
  /// Updates elements on several threads; each element is independent.
  /// Throws: Unsupported for other types than real numbers.
  virtual void update(std::span<const RuleParameter> parameters) = 0;
};

/// A rule and the indices of its parameters.
struct RuleGroup {
  std::unique_ptr<UpdateRule> rule;
  std::vector<std::size_t> parameters;
};

/// The rule of one of `optimizers()`. Throws: NotFound; ValueError (settings); Unsupported if it
/// cannot stand alone, because it is not a formula of one parameter, its gradient and its state.
[[nodiscard]] std::unique_ptr<UpdateRule> make_update_rule(const std::string& optimizer,
                                                           const Settings& settings = {});

}  // namespace d5
