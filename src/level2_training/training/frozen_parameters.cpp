// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/frozen_parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {

std::vector<std::string> freeze(Network& network, const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  for (const auto& [name, value] : network.graph().initializers) {
    if (network.is_parameter(name)) names.push_back(name);
  }
  std::vector<std::string> frozen;
  for (const std::string& pattern : patterns) {
    const auto matches = [&](const std::string& name) {
      return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    };
    const auto& constants = network.parameter_notes().constants;
    const bool is_constant = std::ranges::any_of(
        constants, [&](const auto& constant) { return matches(constant.first); });
    if (std::ranges::none_of(names, matches) && !is_constant) {
      throw_unknown_name(fmt::format("freeze in network '{}': no parameter matches; pattern",
                                     printable(network.name())),
                         pattern, names);
    }
    std::ranges::copy_if(names, std::back_inserter(frozen), matches);
  }
  std::ranges::sort(frozen);
  frozen.erase(std::ranges::unique(frozen).begin(), frozen.end());
  if (frozen.size() == names.size() && !frozen.empty()) {
    throw ValueError(fmt::format(
        "freeze in network '{}': {} match all of its {} parameters, so that nothing is left to "
        "train; leave a pattern out",
        printable(network.name()), printable(fmt::format("{}", fmt::join(patterns, ", "))),
        names.size()));
  }
  freeze_parameters(network, frozen);
  return frozen;
}

void freeze_parameters(Network& network, const std::vector<std::string>& names) {
  Splice change{.remove = names};
  for (const std::string& name : names) change.constants[name] = network.fetch(name);
  network.splice(std::move(change));
}

void unfreeze(Network& network, const std::vector<std::string>& names) {
  Splice change{.remove = names};
  for (const std::string& name : names) change.parameters[name] = network.fetch(name);
  network.splice(std::move(change));
}

}  // namespace d5
