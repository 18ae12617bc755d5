// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace d5 {

/// Numeric options of an optimizer that may change between steps, by name. If parameter groups have
/// their own values, these change in proportion.
///
///     optimizer.hyper_parameters().set("learning_rate", 0.01);
class HyperParameters {
 public:
  HyperParameters() = default;
  HyperParameters(const HyperParameters&) = delete;
  HyperParameters& operator=(const HyperParameters&) = delete;

  /// Binds every number that `options` declare, with its current value. `options` must outlive this
  /// object. The first ones bound belong to the parameters in no group.
  template <class Options>
  void bind(Options& options) {
    OptionList list;
    options.declare(list);
    add_group(list.numbers());
  }

  [[nodiscard]] std::vector<std::string> names() const;
  /// Number of times that options were bound: parameter groups and one.
  [[nodiscard]] std::size_t groups() const { return groups_.size(); }
  [[nodiscard]] bool has(std::string_view name) const;
  /// Value outside groups. Throws: NotFound.
  [[nodiscard]] double at(std::string_view name) const;
  /// Value when it was bound; `group` 0 means no group. Throws: NotFound.
  [[nodiscard]] double initial(std::string_view name, std::size_t group = 0) const;
  /// Sets the value from the next step on; a group's value becomes its initial one times value /
  /// initial.
  /// Throws: NotFound; ValueError for a value out of the option's range.
  void set(std::string_view name, double value);

 private:
  struct Number {
    OptionList::Number option;
    double initial;
  };
  using Group = std::vector<Number>;
  void add_group(const std::vector<OptionList::Number>& numbers);
  [[nodiscard]] const Number& find(std::string_view name, std::size_t group = 0) const;

  std::vector<Group> groups_;
};

}  // namespace d5
