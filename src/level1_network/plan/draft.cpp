// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/draft.hpp"

#include "d5/core/errors/error.hpp"

namespace d5 {

Draft::Draft(const CompileRequest& for_request, RunState& for_state)
    : request(for_request), state(for_state), plan(std::make_unique<Plan>()) {
  path = request.path;
  plan->graph = request.graph;
  plan->loss = request.loss;
  plan->given_seeds = request.seeds;
}

Draft::Slot& Draft::define(const std::string& name) {
  Slot& slot = slots.emplace_back();
  slot.name = name;
  slot.value = &plan->values.emplace_back();
  by_name[name] = &slot;
  return slot;
}

Draft::Slot* Draft::find(const std::string& name) {
  const auto place = by_name.find(name);
  return place == by_name.end() ? nullptr : place->second;
}

Draft::Slot& Draft::at(const std::string& name) {
  if (Slot* slot = find(name)) return *slot;
  throw NotFound("tensor '" + printable(name) + "' is read before anything writes it");
}

std::vector<std::string> Draft::names_of_steps() const {
  const auto name_of = [](const Step& step) {
    return step.node->name.empty() ? step.node->op_type : step.node->name;
  };
  std::vector<std::string> names;
  for (const Step& step : steps) names.push_back(name_of(step));
  for (const BackwardStep& step : backward) {
    for (const Step* again : step.again) names.push_back(name_of(*again) + " again");
    names.push_back("gradient of " + name_of(*step.forward));
  }
  return names;
}

}  // namespace d5
