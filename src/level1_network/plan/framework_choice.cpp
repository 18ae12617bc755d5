// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/framework_choice.hpp"

#include <algorithm>

#include "d5/core/entries/loadable_frameworks.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
std::vector<const OperatorRegistry*> FrameworkChoice::all() const {
  std::vector<const OperatorRegistry*> result = preferred;
  result.insert(result.end(), candidates.begin(), candidates.end());
  return result;
}

std::string FrameworkChoice::names() const {
  std::string result;
  for (const OperatorRegistry* registry : all()) {
    if (!result.empty()) result += ',';
    result += registry->framework();
  }
  return result;
}

FrameworkChoice framework_choice(const std::vector<std::string>& names) {
  if (names.empty()) throw ValueError("an executor needs at least one framework");
  FrameworkChoice choice;
  for (const auto& name : names) {
    if (name == "auto") {
      for (Framework* one : loadable_frameworks()) {
        auto& registry = one->part<OperatorRegistry>();
        if (!registry.list().empty()) choice.candidates.push_back(&registry);
      }
      // Frameworks with fewer operators are tried before the one that has all.
      std::ranges::stable_partition(choice.candidates, [](const auto* registry) {
        return registry->framework() != "reference";
      });
    } else {
      choice.preferred.push_back(&framework(name).part<OperatorRegistry>());
    }
  }
  return choice;
}

}  // namespace d5
