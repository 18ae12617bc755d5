// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/gradients/link_gradients.hpp"

#include "level1_network/plan/memory/memory_layout.hpp"

namespace d5 {
namespace {

using Slot = Draft::Slot;
using Place = Draft::GradientPlace;

void bind(Draft& draft, const Place& place,
          std::vector<std::pair<Tensor*, const Value*>>& to_allocate) {
  if (place.block != Draft::kNoBlock) {
    *place.tensor = tensor_at(draft, place.block, place.slot->desc.tensor);
  } else if (!place.tensor->defined()) {
    to_allocate.emplace_back(place.tensor, place.slot->value);
  }
}

void link_step(Draft& draft, const Draft::BackwardStep& step) {
  const Draft::Step& forward = *step.forward;
  Plan& plan = *draft.plan;
  auto& inputs = plan.input_lists.emplace_back();
  auto& outputs = plan.output_lists.emplace_back();
  auto& grad_outputs = plan.grad_output_lists.emplace_back();
  auto& grad_inputs = plan.grad_input_lists.emplace_back();
  auto& sums = plan.sum_lists.emplace_back();
  auto& to_allocate = plan.allocation_lists.emplace_back();
  for (std::size_t i = 0; i < forward.inputs.size(); ++i) {
    const bool read = forward.inputs[i] && forward.traits.backward_reads_inputs.contains(i);
    inputs.push_back(read ? step.inputs[i]->value : nullptr);
  }
  for (std::size_t k = 0; k < forward.outputs.size(); ++k) {
    const Slot* slot = forward.outputs[k];
    const bool read = slot && forward.traits.backward_reads_outputs.contains(k);
    outputs.push_back(read ? step.outputs[k]->value : nullptr);
    const bool arrives = slot && slot->wants_gradient && slot->reached;
    grad_outputs.push_back(arrives ? slot->gradient : nullptr);
  }
  auto& accumulated = plan.grad_input_lists.emplace_back();
  for (std::size_t i = 0; i < step.places.size(); ++i) {
    const Place& place = step.places[i];
    grad_inputs.push_back(place.tensor);
    if (!place.slot) continue;
    bind(draft, place, to_allocate);
    if (i >= forward.inputs.size()) {
      accumulated.push_back(place.tensor);
      forward.services->accumulate_gradient(*place.slot->value, *place.tensor);
    }
    if (place.term) {
      sums.push_back(&plan.sums.emplace_back(*place.slot->gradient, *place.tensor,
                                             place.slot->desc.tensor.device,
                                             draft.state.frameworks.all()));
    }
  }
  GradContext context;
  context.inputs = inputs;
  context.outputs = outputs;
  context.saved_tensors = step.saver->saved_tensors;
  context.grad_outputs = grad_outputs;
  context.grad_inputs = grad_inputs;
  context.scratch_bytes = bytes_at(draft, forward.backward_scratch_block);
  context.run_stream = &draft.state.stream(forward.device);
  context.context_node = forward.node;
  plan.backward.push_back(
      {step.again.size(), forward.kernel, context, sums, to_allocate, accumulated, 0});
}

void link_parameters(Draft& draft) {
  Plan& plan = *draft.plan;
  const auto& parameters = *draft.request.parameters;
  // The backward step after which the gradient of parameter p is final; 0: before the first step.
  std::vector<std::size_t> final_after(parameters.size(), 0);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Slot* slot = draft.find(parameters[p].name);
    const bool reached = slot && slot->contributions > 0;
    plan.named_gradients[parameters[p].name] = {
        slot ? slot->gradient : &plan.gradients.emplace_back(parameters[p].gradient), reached};
    if (!reached) {
      plan.zero_gradients.push_back(parameters[p].gradient);
      continue;
    }
    for (std::size_t j = 0; j < draft.backward.size(); ++j) {
      for (const Place& place : draft.backward[j].places) {
        if (place.slot == slot) final_after[p] = j + 1;
      }
    }
  }
  std::size_t final = 0;
  const auto advance = [&](std::size_t steps_done) {
    while (final < parameters.size() && final_after[final] <= steps_done) ++final;
    return final;
  };
  plan.final_at_start = advance(0);
  for (std::size_t j = 0; j < plan.backward.size(); ++j) {
    plan.backward[j].final_parameters = advance(j + 1);
  }
}

void link_asked(Draft& draft) {
  Plan& plan = *draft.plan;
  for (const auto& [name, slot] : draft.asked) {
    const bool reached = slot->contributions > 0;
    const bool fresh = plan.named_gradients.try_emplace(name, slot->gradient, reached).second;
    if (reached || !fresh) continue;
    if (slot->gradient->defined()) {
      plan.zero_gradients.push_back(*slot->gradient);
    } else {
      plan.dynamic_zeros.emplace_back(slot->gradient, slot->value);
    }
  }
}

/// The gradient of a loss on a device; written once.
Tensor one(DType dtype, const Shape& shape) {
  Tensor result = Tensor::empty(dtype, shape);
  dispatch(FloatTypes{}, dtype, "loss", [&]<class T>() { *result.data<T>() = T(1.0f); });
  return result;
}

void link_loss(Draft& draft) {
  Plan& plan = *draft.plan;
  plan.loss_value = draft.loss->value;
  plan.loss_gradient = draft.loss->gradient;
  if (const TensorDesc& desc = draft.loss->desc.tensor; desc.device != Device{}) {
    expect_scalar(plan.loss, desc);
    *plan.loss_gradient = one(desc.dtype, desc.shape).copy(desc.device);
  }
}

}  // namespace

void link_gradients(Draft& draft) {
  for (const Draft::BackwardStep& step : draft.backward) link_step(draft, step);
  link_parameters(draft);
  Plan& plan = *draft.plan;
  for (const auto& [name, slot] : draft.seeds) plan.seeds[name] = slot->gradient;
  if (draft.loss) link_loss(draft);
  link_asked(draft);
}

}  // namespace d5
