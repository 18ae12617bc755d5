// SPDX-License-Identifier: Apache-2.0
#include "level1_network/gradient_paths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"

namespace d5 {
namespace {

using Slot = Draft::Slot;
using Step = Draft::Step;

/// Integers and booleans end a gradient's path; a type that only running tells may carry one.
bool may_carry_gradient(const Slot& slot) {
  return !slot.desc.is_tensor() || is_floating_point(slot.desc.tensor.dtype);
}

bool wants_gradient(const Slot* slot) {
  return slot && slot->wants_gradient && may_carry_gradient(*slot);
}

/// Whether what is wanted before the step depends on its gradient.
bool passes_on(const Step& step) {
  if (std::any_of(step.captured.begin(), step.captured.end(), wants_gradient)) return true;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    // Where an operator has a gradient at all, an input without one is an index, a mask, a
    // statistic; where it has none, the path is broken, which matters only if it leads to the loss.
    const bool carries = step.differentiable.empty() || step.differentiable.contains(i);
    if (carries && wants_gradient(step.inputs[i])) return true;
  }
  return false;
}

void mark_wanted(Draft& draft) {
  for (const Parameter& parameter : *draft.request.parameters) {
    if (Slot* slot = draft.find(parameter.name)) slot->wants_gradient = true;
  }
  for (const auto& name : draft.request.input_gradients) draft.at(name).wants_gradient = true;
  for (Step& step : draft.steps) {
    const bool wanted = passes_on(step);
    for (Slot* output : step.outputs) {
      if (output) output->wants_gradient = wanted && may_carry_gradient(*output);
    }
  }
}

void reach(Draft& draft, Step& step) {
  if (step.differentiable.empty() ||
      std::any_of(step.captured.begin(), step.captured.end(), wants_gradient)) {
    throw Unsupported(fmt::format(
        "{} has no gradient, but lies between loss '{}' and what gradients are wanted for",
        onnx::describe(*step.node), printable(draft.request.loss)));
  }
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (!step.differentiable.contains(i) || !wants_gradient(step.inputs[i])) continue;
    step.inputs[i]->reached = true;
    step.grad_inputs.add(i);
  }
  draft.backward.push_back({&step});
}

}  // namespace

void find_gradient_paths(Draft& draft) {
  mark_wanted(draft);
  draft.loss = &draft.at(draft.request.loss);
  draft.loss->reached = true;
  for (auto step = draft.steps.rbegin(); step != draft.steps.rend(); ++step) {
    const bool on_path =
        std::any_of(step->outputs.begin(), step->outputs.end(),
                    [](const Slot* slot) { return slot && slot->wants_gradient && slot->reached; });
    if (on_path) reach(draft, *step);
  }
}

}  // namespace d5
