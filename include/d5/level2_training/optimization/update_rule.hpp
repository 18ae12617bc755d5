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

/// A parameter that a rule updates where it lies, on the host.
struct RuleParameter {
  const Tensor& gradient;
  Tensor& value;
  std::vector<Tensor*> slots;  ///< in the order of `UpdateRule::slots`
  float* master = nullptr;     ///< of a value of 16 bits
};

/// An optimizer's rule without the optimizer: what it remembers is given to it. Its bits are the
/// optimizer's.
///
///     auto rule = make_update_rule("adam", {{"learning_rate", 0.01}});
///     rule->begin_step(1, {});
///     rule->update({{.gradient = g, .value = w, .slots = {&first_moment, &second_moment}}});
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;
  /// The options in force, which `HyperParameters::bind` binds.
  virtual void declare(OptionList& options) = 0;
  /// What it remembers of a parameter: zero before the first step, in float32 for one of 16 bits.
  [[nodiscard]] virtual std::vector<std::string> slots() const = 0;
  [[nodiscard]] virtual Shape slot_shape(std::size_t slot, const Shape& parameter) const = 0;
  /// What it remembers besides, each a number: zero before the first step.
  [[nodiscard]] virtual std::vector<std::string> numbers() const = 0;

  /// Called once a step, which counts from 1; makes `numbers` those after it.
  /// Throws: ValueError for options that the rule cannot go on with.
  virtual void begin_step(std::int64_t step, std::span<double> numbers) = 0;
  /// Whether `other` has the same formula. Where one class has several, such as those of another
  /// language, it says which.
  [[nodiscard]] virtual bool has_formula_of(const UpdateRule& other) const;
  /// Elements of several threads; each is computed by itself. Throws: Unsupported for other types
  /// than real numbers.
  virtual void update(std::span<const RuleParameter> parameters) = 0;
};

/// A rule and the places of the parameters that it is in force for.
struct RuleGroup {
  std::unique_ptr<UpdateRule> rule;
  std::vector<std::size_t> parameters;
};

/// The rule of one of `optimizers()`. Throws: NotFound, ValueError (settings); Unsupported where it
/// cannot stand alone: it is no formula of one parameter, its gradient and what it remembers.
[[nodiscard]] std::unique_ptr<UpdateRule> make_update_rule(const std::string& optimizer,
                                                           const Settings& settings = {});

}  // namespace d5
