// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/gradients/gradient_layout.hpp"

#include "level1_network/plan/memory/memory_layout.hpp"

namespace d5 {
namespace {

using Slot = Draft::Slot;
using Place = Draft::GradientPlace;

/// Defines gradients outside the arena: parameters', those requested by name, and those that
/// backward begins with. A gradient with a dynamic shape is undefined until it is known.
void define_lasting(Draft& draft) {
  auto& gradients = draft.plan->gradients;
  for (const Parameter& parameter : *draft.request.parameters) {
    if (Slot* slot = draft.find(parameter.name)) {
      slot->gradient = &gradients.emplace_back(parameter.gradient);
    }
  }
  for (const auto& [name, slot] : draft.asked) {
    if (slot->gradient) continue;  // a parameter's
    slot->gradient = &gradients.emplace_back();
    if (slot->desc.is_static()) *slot->gradient = Tensor::zeros(slot->desc.tensor);
  }
  for (const auto& [name, slot] : draft.seeds) {
    if (!slot->gradient) slot->gradient = &gradients.emplace_back();
    slot->contributions = 1;
  }
}

Place place_for(Draft& draft, Slot& slot, std::size_t now) {
  const bool term = slot.contributions++ > 0;
  if (!term && slot.gradient) return {&slot, slot.gradient};
  Place place{&slot, &draft.plan->gradients.emplace_back(), Draft::kNoBlock, term};
  if (slot.desc.is_static()) place.block = request_block(draft, slot.desc.tensor, now);
  if (!term) slot.gradient = place.tensor, slot.gradient_block = place.block;
  return place;
}

void plan_step(Draft& draft, Draft::BackwardStep& step, std::size_t now) {
  Draft::Step& forward = *step.forward;
  forward.backward_scratch_block = request_scratch(draft, forward, now);
  for (const std::size_t block : step.saver->saved_blocks) keep_until(draft, block, now);
  for (std::size_t i = 0; i < forward.inputs.size(); ++i) {
    Slot* input = forward.inputs[i];
    if (input && forward.traits.backward_reads_inputs.contains(i)) {
      keep_until(draft, step.inputs[i]->block, now);
    }
    step.places.push_back(input && forward.grad_inputs.contains(i) && input->reached
                              ? place_for(draft, *input, now)
                              : Place{});
  }
  // The backward pass of a graph runs it again, on its captured values.
  for (std::size_t j = 0; j < forward.captured.size(); ++j) {
    Slot* captured = forward.captured[j];
    keep_until(draft, captured->block, now);
    step.places.push_back(forward.grad_inputs.contains(forward.inputs.size() + j) &&
                                  captured->reached
                              ? place_for(draft, *captured, now)
                              : Place{});
  }
  for (std::size_t k = 0; k < forward.outputs.size(); ++k) {
    const Slot* output = forward.outputs[k];
    if (!output) continue;
    if (forward.traits.backward_reads_outputs.contains(k)) {
      keep_until(draft, step.outputs[k]->block, now);
    }
    // The gradient of a transfer goes the opposite way, and the copy may end after the host
    // continues.
    const bool read_late = forward.transfers && output->desc.tensor.device == Device{};
    keep_until(draft, output->gradient_block, read_late ? MemoryBlock::kForever : now);
  }
}

}  // namespace

void plan_gradients(Draft& draft) {
  define_lasting(draft);
  for (Draft::BackwardStep& step : draft.backward) {
    std::size_t now = step.time - step.again.size();
    for (Draft::Step* again : step.again) plan_lifetime(draft, *again, now++);
    plan_step(draft, step, now);
  }
}

}  // namespace d5
