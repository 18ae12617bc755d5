// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/grouped_options.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {

void detail::expect_own_options(const std::vector<EntryChoice>& groups) {
  const auto has_own = [](const EntryChoice& group) { return !group.settings.values().empty(); };
  if (groups.empty() || std::ranges::any_of(groups, has_own)) return;
  throw ValueError(
      fmt::format("groups of parameters: '{}' has no option of its own, as in {{name: '{}', "
                  "learning_rate: 0.1}}; leave groups out",
                  printable(groups.front().name), printable(groups.front().name)));
}

std::vector<std::size_t> groups_of_parameters(Network& network,
                                              const std::vector<std::string>& patterns) {
  std::vector<std::size_t> groups;
  for (const Parameter& parameter : network.parameters()) {
    const auto place = std::ranges::find_if(patterns, [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), parameter.name.c_str(), 0) == 0;
    });
    groups.push_back(place == patterns.end() ? 0 : std::size_t(place - patterns.begin()) + 1);
  }
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (std::ranges::find(groups, i + 1) != groups.end()) continue;
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const std::string& name = network.parameters()[k].name;
      if (fnmatch(patterns[i].c_str(), name.c_str(), 0) != 0) continue;
      throw ValueError(
          fmt::format("group of parameters: '{}' matches '{}', which the earlier group '{}' has; "
                      "the first that "
                      "matches has a parameter, so give '{}' first",
                      printable(patterns[i]), printable(name), printable(patterns[groups[k] - 1]),
                      printable(patterns[i])));
    }
    std::vector<std::string> names;
    for (const Parameter& parameter : network.parameters()) names.push_back(parameter.name);
    throw_unknown_name("group of parameters: no parameter left matches; pattern", patterns[i],
                       names);
  }
  return groups;
}

}  // namespace d5
