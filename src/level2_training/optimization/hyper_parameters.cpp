// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/hyper_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {

void HyperParameters::add_group(const std::vector<OptionList::Number>& numbers) {
  Group& group = groups_.emplace_back();
  for (const auto& number : numbers) group.push_back({number, *number.value});
}

std::vector<std::string> HyperParameters::names() const {
  std::vector<std::string> result;
  if (groups_.empty()) return result;
  for (const Number& number : groups_.front()) result.push_back(number.option.name);
  return result;
}

bool HyperParameters::has(std::string_view name) const {
  return !groups_.empty() && std::ranges::any_of(groups_.front(), [&](const Number& number) {
    return number.option.name == name;
  });
}

const HyperParameters::Number& HyperParameters::find(std::string_view name,
                                                     std::size_t group) const {
  if (group < groups_.size()) {
    for (const Number& number : groups_[group]) {
      if (number.option.name == name) return number;
    }
  }
  throw_unknown_name("hyper-parameter", name, names());
}

double HyperParameters::at(std::string_view name) const { return *find(name).option.value; }
double HyperParameters::initial(std::string_view name, std::size_t group) const {
  return find(name, group).initial;
}

void HyperParameters::set(std::string_view name, double value) {
  const Number& number = find(name);
  if (!number.option.range.holds(value)) {
    throw ValueError(fmt::format("hyper-parameter {} is set to {}, expected a number {}", name,
                                 value, to_string(number.option.range)));
  }
  for (const Group& group : groups_) {
    for (const Number& its : group) {
      if (its.option.name != name) continue;
      const bool proportional = number.initial != 0;
      *its.option.value = proportional ? its.initial * (value / number.initial) : value;
    }
  }
  *number.option.value = value;  // bitwise
}

}  // namespace d5
