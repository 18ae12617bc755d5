// SPDX-License-Identifier: Apache-2.0
#include "level1_network/draft.hpp"

#include "d5/core/error.hpp"

namespace d5 {

Draft::Draft(const CompileRequest& for_request, RunState& for_state)
    : request(for_request), state(for_state), plan(std::make_unique<Plan>()) {
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

std::string Draft::name_at(std::size_t time) const {
  const auto name_of = [](const onnx::Node& node) {
    return node.name.empty() ? node.op_type : node.name;
  };
  if (time < steps.size()) return name_of(*steps[time].node);
  return "gradient of " + name_of(*backward[time - steps.size()].forward->node);
}

}  // namespace d5
