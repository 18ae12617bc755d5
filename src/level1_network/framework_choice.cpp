// SPDX-License-Identifier: Apache-2.0
#include "level1_network/framework_choice.hpp"

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"

namespace d5 {
namespace {

std::vector<const OperatorRegistry*> loadable_frameworks() {
  std::vector<const OperatorRegistry*> result;
  for (const auto& info : frameworks()) {
    try {
      result.push_back(&framework(info.name).part<OperatorRegistry>());
    } catch (const Error&) {
      // `d5::frameworks` says why to who asks; here it is no candidate.
    }
  }
  // Whoever has fewer operators is asked before the one that has all.
  std::ranges::stable_partition(result,
                                [](const auto* one) { return one->framework() != "reference"; });
  return result;
}

}  // namespace

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
      choice.candidates = loadable_frameworks();
    } else {
      choice.preferred.push_back(&framework(name).part<OperatorRegistry>());
    }
  }
  return choice;
}

}  // namespace d5
