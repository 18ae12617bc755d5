// SPDX-License-Identifier: Apache-2.0
#include "serving/jobs/job_waiting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

std::string why_none_fits(const JobConstraints& constraints,
                          const std::vector<StandingAgent>& agents) {
  if (agents.empty()) return "no agent has connected yet; 'd5 agent run' starts one";
  std::vector<std::string> others, missing;
  std::set<std::string> offered;
  for (const StandingAgent& agent : agents) {
    const std::string reason = why_not(constraints, agent.facts);
    const bool is_silent = agent.state == StandingAgent::State::silent;
    if (reason.empty() && !is_silent) return {};
    others.push_back(fmt::format("{}: {}", printable(agent.facts.name),
                                 reason.empty() ? kSilent : printable_message(reason)));
    for (const auto& [name, framework] : agent.facts.frameworks) offered.insert(printable(name));
  }
  for (const auto& [name, range] : constraints.frameworks) {
    if (!offered.contains(printable(name))) missing.push_back(printable(name));
  }
  if (missing.empty()) return fmt::format("no agent fits: {}", fmt::join(others, ", "));
  return fmt::format("no agent offers {}; agents offer {}", fmt::join(missing, ", "),
                     offered.empty() ? "none" : fmt::format("{}", fmt::join(offered, ", ")));
}

}  // namespace d5::detail
