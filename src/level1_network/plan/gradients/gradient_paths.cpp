// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/gradients/gradient_paths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

using Slot = Draft::Slot;
using Step = Draft::Step;

/// Integers and booleans end a gradient's path; a type known only at run time may carry one.
bool may_carry_gradient(const Slot& slot) {
  return !slot.desc.is_tensor() || is_floating_point(slot.desc.tensor.dtype);
}

bool wants_gradient(const Slot* slot) {
  return slot && slot->wants_gradient && may_carry_gradient(*slot);
}

/// Whether a wanted gradient before the step depends on the step's gradient.
bool passes_on(const Step& step) {
  if (std::any_of(step.captured.begin(), step.captured.end(), wants_gradient)) return true;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    // If an operator has any gradient, an input without one is an index, a mask or a statistic. If
    // it has none, the path is broken, which matters only if it leads to the loss.
    const bool carries = step.differentiable.empty() || step.differentiable.contains(i);
    if (carries && wants_gradient(step.inputs[i])) return true;
  }
  return false;
}

/// Resolves a gradient requested by name. Throws: TypeError for a tensor that has no gradient.
Slot& asked_slot(Draft& draft, const std::string& name) {
  Slot* slot = draft.find(name);
  if (slot && may_carry_gradient(*slot)) return *slot;
  throw TypeError(
      fmt::format("the gradient of '{}' is asked for, but it is {}; only tensors of "
                  "real numbers have gradients",
                  printable(name), slot ? to_string(slot->desc) : "no tensor"));
}

void mark_wanted(Draft& draft) {
  for (const Parameter& parameter : *draft.request.parameters) {
    if (Slot* slot = draft.find(parameter.name)) slot->wants_gradient = true;
  }
  for (const auto& name : draft.request.gradients) {
    Slot& slot = asked_slot(draft, name);
    slot.wants_gradient = true;
    draft.asked[name] = &slot;
  }
  for (Step& step : draft.steps) {
    if (!passes_on(step)) continue;
    for (Slot* output : step.outputs) {
      if (output && may_carry_gradient(*output)) output->wants_gradient = true;
    }
  }
}

void expect_gradient(const Draft& draft, const Step& step) {
  bool has_gradient = !step.differentiable.empty();
  for (std::size_t j = 0; j < step.captured.size(); ++j) {
    const bool wanted = wants_gradient(step.captured[j]);
    has_gradient =
        has_gradient && (!wanted || step.differentiable.contains(step.inputs.size() + j));
  }
  if (has_gradient) return;
  const std::string from =
      draft.loss ? "loss '" + printable(draft.request.loss) + "'"
                 : "the outputs of graph '" + printable(draft.request.graph->name) + "'";
  throw Unsupported(
      fmt::format("{} has no gradient, but lies between {} and what gradients are wanted for",
                  onnx::describe(*step.node), from));
}

void reach(Draft& draft, Step& step) {
  expect_gradient(draft, step);
  const auto reach_slot = [&](Slot* slot, std::size_t place) {
    if (!step.differentiable.contains(place) || !wants_gradient(slot)) return;
    slot->reached = true;
    step.grad_inputs.add(place);
  };
  const std::size_t inputs = step.inputs.size();
  for (std::size_t i = 0; i < inputs; ++i) reach_slot(step.inputs[i], i);
  for (std::size_t j = 0; j < step.captured.size(); ++j) reach_slot(step.captured[j], inputs + j);
  draft.backward.push_back({&step});
}

}  // namespace

void find_gradient_paths(Draft& draft) {
  mark_wanted(draft);
  const CompileRequest& request = draft.request;
  for (const auto& name : request.seeds) draft.seeds[name] = &draft.at(name);
  if (!request.loss.empty()) {
    draft.loss = draft.seeds[request.loss] = &draft.at(request.loss);
  }
  for (const auto& [name, slot] : draft.seeds) slot->reached = true;
  for (auto step = draft.steps.rbegin(); step != draft.steps.rend(); ++step) {
    const bool on_path =
        std::any_of(step->outputs.begin(), step->outputs.end(),
                    [](const Slot* slot) { return slot && slot->wants_gradient && slot->reached; });
    if (on_path && passes_on(*step)) reach(draft, *step);
  }
}

}  // namespace d5
