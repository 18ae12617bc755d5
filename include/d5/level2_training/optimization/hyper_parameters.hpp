// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace d5 {

/// The numbers of an optimizer that may change from step to step, by the names of its options. A
/// group of parameters may have its own: they change in proportion.
///
///     optimizer.hyper_parameters().set("learning_rate", 0.01);
class HyperParameters {
 public:
  HyperParameters() = default;
  HyperParameters(const HyperParameters&) = delete;
  HyperParameters& operator=(const HyperParameters&) = delete;

  /// Binds every number that `options` declare, as they are now. They must outlive this. The first
  /// ones bound are those of all parameters that are in no group.
  template <class Options>
  void bind(Options& options) {
    OptionList list;
    options.declare(list);
    add_group(list.numbers());
  }

  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool has(std::string_view name) const;
  /// Outside of groups. Throws: NotFound.
  [[nodiscard]] double at(std::string_view name) const;
  /// As it was when it was bound; of the group of this place, 0 being none. Throws: NotFound.
  [[nodiscard]] double initial(std::string_view name, std::size_t group = 0) const;
  /// From the next step on; a group's becomes its initial one times value / initial.
  /// Throws: NotFound, ValueError for one out of the option's range.
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
