// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/optimization/hyper_parameters.hpp"
#include "d5/level2_training/optimization/update_rule.hpp"

namespace d5 {

/// For each parameter of `network`, the number of the first pattern (glob(7)) that matches its
/// name, from 1; 0 if none does. Throws: NotFound for a pattern that is the first match of no
/// parameter, with the names.
[[nodiscard]] std::vector<std::size_t> groups_of_parameters(
    Network& network, const std::vector<std::string>& patterns);

namespace detail {
/// Throws: ValueError if there are groups and none has an option of its own.
void expect_own_options(const std::vector<EntryChoice>& groups);
}  // namespace detail

/// An optimizer's options, with exceptions for groups of parameters:
///
///     optimizer: {name: adam, weight_decay: 0.01, groups: [{name: "*.bias", weight_decay: 0}]}
///
/// A group inherits all other options.
template <class Rule>
struct GroupedOptions {
  Rule rule = {};
  std::vector<EntryChoice> groups = {};

  void declare(OptionList& options) {
    rule.declare(options);
    options.add("groups", groups, "parameters by name pattern with options of their own",
                "pattern");
  }
  /// Effective options of parameters in no group, followed by those of each group. Throws: NotFound
  /// for an unknown option; ValueError.
  [[nodiscard]] std::vector<Rule> rules() const {
    detail::expect_own_options(groups);
    std::vector<Rule> result{rule};
    for (const EntryChoice& group : groups) {
      OptionList own(group.settings);
      result.push_back(rule);
      result.back().declare(own);
      own.expect_all_known();
    }
    return result;
  }
};

/// Effective options of every parameter.
template <class Rule>
class ParameterGroups {
 public:
  /// Throws: NotFound (a pattern that matches nothing, an unknown option), ValueError.
  ParameterGroups(const GroupedOptions<Rule>& options, Network& network, HyperParameters& numbers)
      : rules_(options.rules()) {
    std::vector<std::string> patterns;
    for (const EntryChoice& group : options.groups) patterns.push_back(group.name);
    group_of_ = groups_of_parameters(network, patterns);
    for (Rule& rule : rules_) numbers.bind(rule);
  }
  ParameterGroups(const ParameterGroups&) = delete;  // `numbers` points into it
  ParameterGroups& operator=(const ParameterGroups&) = delete;

  [[nodiscard]] std::size_t count() const { return rules_.size(); }
  [[nodiscard]] std::size_t group_of(std::size_t parameter) const { return group_of_[parameter]; }
  [[nodiscard]] const Rule& group(std::size_t group) const { return rules_[group]; }
  [[nodiscard]] const Rule& of(std::size_t parameter) const { return rules_[group_of_[parameter]]; }
  /// Each group's rule without the optimizer, with its current options.
  template <class Alone>
  [[nodiscard]] std::vector<RuleGroup> alone() const {
    std::vector<RuleGroup> result;
    for (const Rule& rule : rules_) result.push_back({std::make_unique<Alone>(rule), {}});
    for (std::size_t i = 0; i < group_of_.size(); ++i) {
      result[group_of_[i]].parameters.push_back(i);
    }
    return result;
  }

 private:
  std::vector<Rule> rules_;  // never resized after `numbers` are bound
  std::vector<std::size_t> group_of_;
};

}  // namespace d5
