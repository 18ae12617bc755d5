// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/link.hpp"

#include <algorithm>

#include "level1_network/plan/gradients/link_gradients.hpp"
#include "level1_network/plan/memory/memory_layout.hpp"

namespace d5 {
namespace {

using Slot = Draft::Slot;

std::size_t bytes_of(const ValueDesc& desc) { return desc.is_static() ? desc.tensor.bytes() : 0; }

std::size_t memory_of(const Draft::Step& step) {
  std::size_t bytes = step.scratch_bytes;
  for (const ValueDesc& output : step.output_descs) bytes += bytes_of(output);
  for (const TensorDesc& saved : step.saved) bytes += saved.bytes();
  return step.dynamic ? 0 : bytes;
}

std::size_t memory_of(const Draft::BackwardStep& step) {
  std::size_t bytes = step.forward->scratch_bytes;
  for (const auto& place : step.places) bytes += place.slot ? bytes_of(place.slot->desc) : 0;
  return step.forward->dynamic ? 0 : bytes;
}

std::string layout_of(const Draft::Step& step) {
  const auto* first = step.output_descs.empty() ? nullptr : &step.output_descs.front();
  return first && first->tensor.arrangement ? first->tensor.arrangement->name() : "";
}

StepInfo describe(Draft& draft, const Draft::Step& step, std::size_t place, Pass pass) {
  const InferContext context(*step.node, step.input_descs, step.constants);
  return {.node = *step.node,
          .path = step.path,
          .step = place,
          .pass = pass,
          .framework = step.framework,
          .device = step.device,
          .layout = pass == Pass::forward ? layout_of(step) : "",
          .stream = draft.state.stream(step.device),
          .cost = step.dynamic ? Cost{} : step.op->cost(context)};
}

Plan::ForwardStep link_forward(Draft& draft, Draft::Step& step) {
  Plan& plan = *draft.plan;
  auto& inputs = plan.input_lists.emplace_back();
  auto& outputs = plan.writable_lists.emplace_back();
  for (const Slot* slot : step.inputs) inputs.push_back(slot ? slot->value : nullptr);
  OpContext context;
  for (const Slot* slot : step.outputs) {
    if (slot && slot->origin == Draft::Origin::planned) {
      plan.planned.push_back({slot->value, slot->value->tensor().raw(), step.node});
      context.planned_outputs.add(outputs.size());
    }
    outputs.push_back(slot ? slot->value : nullptr);
  }
  auto& saved = plan.saved_lists.emplace_back();
  for (std::size_t k = 0; k < step.saved.size(); ++k) {
    saved.push_back(step.saved_blocks[k] == Draft::kNoBlock
                        ? Tensor::empty(step.saved[k])
                        : tensor_at(draft, step.saved_blocks[k], step.saved[k]));
  }
  step.saved_tensors = saved;
  context.inputs = inputs;
  context.outputs = outputs;
  context.scratch_bytes = bytes_at(draft, step.scratch_block);
  context.saved_tensors = saved;
  context.run_mode = draft.request.mode;
  context.run_services = step.services;
  context.run_stream = &draft.state.stream(step.device);
  context.context_node = step.node;
  return {step.kernel, context};
}

void link_outputs(Draft& draft) {
  for (const auto& output : draft.request.graph->outputs) {
    const Slot& slot = *draft.answers.at(output.name);
    Value& answer = draft.plan->outputs[output.name];
    answer = *slot.value;
    draft.plan->output_sources[output.name] = slot.value;
    if (slot.origin == Draft::Origin::fed || slot.origin == Draft::Origin::dynamic) {
      draft.plan->changing_outputs.push_back({&answer, slot.value});
    }
  }
  for (const auto& [constant, output] : draft.updates) {
    Plan::Update update{draft.at(constant).value->tensor(), output->value};
    (output->memory_of ? draft.plan->in_place : draft.plan->updates).push_back(std::move(update));
    draft.plan->planned_updates.push_back(
        {.constant = constant,
         .output = draft.request.updates.at(constant),
         .copied_bytes = output->memory_of ? 0 : draft.at(constant).desc.tensor.bytes(),
         .reason = draft.not_in_place.at(constant)});
  }
}

}  // namespace

void link(Draft& draft) {
  Plan& plan = *draft.plan;
  for (Draft::Step& step : draft.kept) plan.kept.push_back(link_forward(draft, step));
  for (Draft::Step& step : draft.steps) plan.forward.push_back(link_forward(draft, step));
  for (Draft::Step& step : draft.again) plan.again.push_back(link_forward(draft, step));
  link_outputs(draft);
  plan.keeps_updated = std::ranges::any_of(draft.kept, [&](const Draft::Step& step) {
    return draft.updates.contains(step.inputs.front()->name);
  });
  if (draft.goes_back()) link_gradients(draft);

  auto& infos = plan.infos;
  for (const Draft::Step& step : draft.steps) {
    infos.push_back(describe(draft, step, infos.size(), Pass::forward));
    infos.back().memory = memory_of(step);
  }
  for (const Draft::BackwardStep& step : draft.backward) {
    for (const Draft::Step* again : step.again) {
      infos.push_back(describe(draft, *again, infos.size(), Pass::backward));
      infos.back().recomputed = true;
      infos.back().memory = memory_of(*again);
    }
    infos.push_back(describe(draft, *step.forward, infos.size(), Pass::backward));
    infos.back().memory = memory_of(step);
  }
  for (const Draft::Step& step : draft.kept) {
    const std::size_t place = infos.size() + plan.kept_infos.size();
    plan.kept_infos.push_back(describe(draft, step, place, Pass::forward));
    plan.kept_infos.back().prepares = true;
    plan.kept_infos.back().memory = memory_of(step);
  }
}

}  // namespace d5
