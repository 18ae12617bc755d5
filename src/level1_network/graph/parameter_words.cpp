// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/parameter_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "d5/core/errors/error.hpp"

namespace d5 {

std::size_t count_lifted(const Network& network) {
  return std::size_t(
      std::ranges::count_if(network.parameter_notes().lifted,
                            [&](const std::string& name) { return network.is_parameter(name); }));
}

std::vector<std::string> constant_words(const Network& network) {
  constexpr std::size_t kMost = 4;
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [name, why] : network.parameter_notes().constants) {
    if (!network.is_parameter(name)) by_reason[why].push_back(printable(name));
  }
  std::vector<std::string> lines;
  for (auto& [why, names] : by_reason) {
    const std::size_t more = names.size() > kMost ? names.size() - kMost : 0;
    names.resize(names.size() - more);
    lines.push_back(fmt::format("{}{}: {}", fmt::join(names, ", "),
                                more > 0 ? fmt::format(" and {} more", more) : "", why));
  }
  return lines;
}

}  // namespace d5
