// SPDX-License-Identifier: Apache-2.0
#include "level1_network/backward_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"

namespace d5 {
namespace {

/// Integers and booleans end a gradient's path; a type that only running tells may carry one.
bool may_carry_gradient(const Compiler::Slot& slot) {
  return !slot.desc.is_tensor() || is_floating_point(slot.desc.tensor.dtype);
}

bool carries_gradient(const Compiler::Step& step, std::size_t i) {
  const auto* input = step.inputs[i];
  return input && input->wants_gradient && step.differentiable[i];
}

bool has_gradient(const Compiler::Step& step) {
  return std::find(step.differentiable.begin(), step.differentiable.end(), true) !=
         step.differentiable.end();
}

}  // namespace

void BackwardCompiler::mark_wanted() {
  for (const Parameter& parameter : *c_.request_.parameters) {
    if (Slot* slot = c_.find(parameter.name)) slot->wants_gradient = true;
  }
  for (const auto& name : c_.request_.input_gradients) c_.at(name).wants_gradient = true;
  for (auto& step : c_.steps_) {
    const auto wants = [](const Slot* slot) {
      return slot && slot->wants_gradient && may_carry_gradient(*slot);
    };
    // Where an operator has a gradient at all, an input without one is an index, a mask, a
    // statistic; where it has none, the path is broken, which matters only if it leads to the loss.
    bool passes_on = std::any_of(step.captured.begin(), step.captured.end(), wants);
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      passes_on =
          passes_on || (has_gradient(step) ? carries_gradient(step, i) : wants(step.inputs[i]));
    }
    for (Slot* output : step.outputs) {
      if (output) output->wants_gradient = passes_on && may_carry_gradient(*output);
    }
  }
}

void BackwardCompiler::reach(Compiler::Step& step) {
  const bool captures = std::any_of(step.captured.begin(), step.captured.end(),
                                    [](const Slot* slot) { return slot->wants_gradient; });
  if (!has_gradient(step) || captures) {
    throw Unsupported(fmt::format(
        "{} has no gradient, but lies between loss '{}' and what gradients are wanted for",
        onnx::describe(*step.node), printable(c_.request_.loss)));
  }
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (carries_gradient(step, i)) step.inputs[i]->reached = true;
  }
  steps_.push_back({&step, {}});
}

void BackwardCompiler::mark_reached() {
  loss_ = &c_.at(c_.request_.loss);
  loss_->reached = true;
  for (auto step = c_.steps_.rbegin(); step != c_.steps_.rend(); ++step) {
    const bool on_path =
        std::any_of(step->outputs.begin(), step->outputs.end(),
                    [](const Slot* slot) { return slot && slot->wants_gradient && slot->reached; });
    if (on_path) reach(*step);
  }
}

BackwardCompiler::Place BackwardCompiler::place_for(Slot& slot, std::size_t now) {
  const bool term = slot.contributions++ > 0;
  if (!term && slot.gradient) return {&slot, slot.gradient, Compiler::kNoBlock, false};
  Place place{&slot, &c_.plan_->gradients.emplace_back(), Compiler::kNoBlock, term};
  if (slot.desc.is_static()) place.block = c_.request_block(slot.desc.tensor, now);
  if (!term) slot.gradient = place.tensor, slot.gradient_block = place.block;
  return place;
}

void BackwardCompiler::plan_step(Step& step, std::size_t now) {
  Compiler::Step& forward = *step.forward;
  forward.backward_scratch_block = c_.request_scratch(forward, now);
  for (std::size_t i = 0; i < forward.inputs.size(); ++i) {
    if (forward.inputs[i] && forward.reads_input[i]) c_.keep_until(*forward.inputs[i], now);
    step.places.push_back(carries_gradient(forward, i) ? place_for(*forward.inputs[i], now)
                                                       : Place{});
  }
  for (std::size_t k = 0; k < forward.outputs.size(); ++k) {
    Slot* output = forward.outputs[k];
    if (!output) continue;
    if (forward.reads_output[k]) c_.keep_until(*output, now);
    if (output->gradient_block != Compiler::kNoBlock) {
      auto& end = c_.blocks_[output->gradient_block].end;
      end = std::max(end, now);
    }
  }
}

void BackwardCompiler::plan() {
  mark_wanted();
  mark_reached();
  auto& gradients = c_.plan_->gradients;
  for (const Parameter& parameter : *c_.request_.parameters) {
    if (Slot* slot = c_.find(parameter.name)) {
      slot->gradient = &gradients.emplace_back(parameter.gradient);
    }
  }
  for (const auto& name : c_.request_.input_gradients) {
    Slot& slot = c_.at(name);
    slot.gradient =
        &gradients.emplace_back(Tensor::zeros(slot.desc.tensor.dtype, slot.desc.tensor.shape));
  }
  if (!loss_->gradient) loss_->gradient = &gradients.emplace_back();

  const std::size_t begin = c_.steps_.size();
  std::vector<std::size_t> last_use(begin);  // of what a step saved
  for (std::size_t i = 0; i < begin; ++i) last_use[i] = i;
  for (std::size_t j = 0; j < steps_.size(); ++j) {
    plan_step(steps_[j], begin + j);
    last_use[std::size_t(steps_[j].forward - c_.steps_.data())] = begin + j;
  }
  for (std::size_t i = 0; i < begin; ++i) {
    for (const auto& desc : c_.steps_[i].saved) {
      const std::size_t block = c_.request_block(desc, i);
      if (block != Compiler::kNoBlock) c_.blocks_[block].end = last_use[i];
      c_.steps_[i].saved_blocks.push_back(block);
    }
  }
}

void BackwardCompiler::bind(const Place& place,
                            std::vector<std::pair<Tensor*, const Value*>>& to_allocate) {
  if (place.block != Compiler::kNoBlock) {
    *place.tensor = c_.tensor_at(place.block, place.slot->desc.tensor);
  } else if (!place.tensor->defined()) {
    to_allocate.emplace_back(place.tensor, place.slot->value);
  }
}

void BackwardCompiler::link_step(const Step& step) {
  const Compiler::Step& forward = *step.forward;
  Plan& plan = *c_.plan_;
  auto& inputs = plan.input_lists.emplace_back();
  auto& outputs = plan.output_lists.emplace_back();
  auto& grad_outputs = plan.grad_output_lists.emplace_back();
  auto& grad_inputs = plan.grad_input_lists.emplace_back();
  auto& sums = plan.sum_lists.emplace_back();
  auto& to_allocate = plan.allocation_lists.emplace_back();
  for (const Slot* slot : forward.inputs) inputs.push_back(slot ? slot->value : nullptr);
  for (const Slot* slot : forward.outputs) {
    outputs.push_back(slot ? slot->value : nullptr);
    const bool arrives = slot && slot->wants_gradient && slot->reached;
    grad_outputs.push_back(arrives ? slot->gradient : nullptr);
  }
  for (const Place& place : step.places) {
    grad_inputs.push_back(place.tensor);
    if (!place.slot) continue;
    bind(place, to_allocate);
    if (place.term) sums.push_back({place.slot->gradient, place.tensor});
  }
  GradContext context;
  context.inputs = inputs;
  context.outputs = outputs;
  context.saved_tensors = forward.saved_tensors;
  context.grad_outputs = grad_outputs;
  context.grad_inputs = grad_inputs;
  context.scratch_bytes = c_.bytes_at(forward.backward_scratch_block);
  context.context_node = forward.node;
  plan.backward.push_back({forward.op, context, sums, to_allocate, 0});
}

void BackwardCompiler::link_parameters() {
  Plan& plan = *c_.plan_;
  const auto& parameters = *c_.request_.parameters;
  // The backward step after which the gradient of parameter p is final; 0: before the first.
  std::vector<std::size_t> final_after(parameters.size(), 0);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Slot* slot = c_.find(parameters[p].name);
    if (!slot || (slot->contributions == 0 && slot != loss_)) {
      plan.zero_gradients.push_back(parameters[p].gradient);
      continue;
    }
    for (std::size_t j = 0; j < steps_.size(); ++j) {
      for (const Place& place : steps_[j].places) {
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
  for (std::size_t j = 0; j < steps_.size(); ++j)
    plan.backward[j].final_parameters = advance(j + 1);
}

void BackwardCompiler::link() {
  for (const Step& step : steps_) link_step(step);
  link_parameters();
  Plan& plan = *c_.plan_;
  plan.loss_value = loss_->value;
  plan.loss_gradient = loss_->gradient;
  for (const auto& name : c_.request_.input_gradients) {
    Slot& slot = c_.at(name);
    if (slot.contributions == 0) plan.zero_gradients.push_back(*slot.gradient);
    plan.input_gradients[name] = slot.gradient;
  }
}

}  // namespace d5
