// SPDX-License-Identifier: Apache-2.0
#include "serving/api/known_frameworks.hpp"

#include <set>

#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5::detail {

void expect_known_frameworks(const JobConstraints& constraints, const JobQueue& queue) {
  if (constraints.frameworks.empty()) return;
  std::set<std::string> known = {"reference"};  // linked in, and unlisted until it is used
  for (const auto& info : frameworks()) known.insert(info.name);
  for (const auto& agent : queue.agents()) {
    for (const auto& [name, framework] : agent.facts.frameworks) known.insert(name);
  }
  for (const auto& [name, range] : constraints.frameworks) {
    if (known.contains(name)) continue;
    std::vector<std::string> words(known.begin(), known.end());
    for (const std::string& predictor : predictors().names()) words.push_back(predictor);
    throw_unknown_name("framework", name, words);
  }
}

}  // namespace d5::detail
