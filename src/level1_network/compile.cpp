// SPDX-License-Identifier: Apache-2.0
#include "level1_network/compile.hpp"

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/backward_compiler.hpp"
#include "level1_network/compiler.hpp"
#include "level1_network/constant_folding.hpp"
#include "level1_network/dynamic_operator.hpp"
#include "level1_network/operator_choice.hpp"

namespace d5 {

Compiler::Compiler(const CompileRequest& request, RunState& state)
    : request_(request), state_(state), plan_(std::make_unique<Plan>()) {
  plan_->graph = request.graph;
  plan_->loss = request.loss;
}

Compiler::Slot& Compiler::define(const std::string& name) {
  Slot& slot = slots_.emplace_back();
  slot.name = name;
  slot.value = &plan_->values.emplace_back();
  by_name_[name] = &slot;
  return slot;
}

Compiler::Slot* Compiler::find(const std::string& name) {
  const auto place = by_name_.find(name);
  return place == by_name_.end() ? nullptr : place->second;
}

Compiler::Slot& Compiler::at(const std::string& name) {
  if (Slot* slot = find(name)) return *slot;
  throw NotFound("tensor '" + printable(name) + "' is read before anything writes it");
}

void Compiler::define_sources() {
  for (const auto& [name, desc] : request_.fed) {
    Slot& slot = define(name);
    slot.desc = desc;
    slot.origin = Origin::fed;
    plan_->inputs.push_back({name, desc, slot.value});
  }
  std::sort(plan_->inputs.begin(), plan_->inputs.end(),
            [](const Plan::Fed& a, const Plan::Fed& b) { return a.name < b.name; });
  for (const auto& [name, tensor] : request_.graph->initializers) {
    if (find(name)) continue;  // a default that was fed
    Slot& slot = define(name);
    slot.desc = tensor.desc();
    slot.origin = request_.variables.contains(name) || request_.updates.contains(name)
                      ? Origin::variable
                      : Origin::constant;
    *slot.value = tensor;
  }
}

std::unique_ptr<Operator> Compiler::choose(const onnx::Node& node,
                                           std::span<const ValueDesc> inputs,
                                           std::span<const Value* const> constants,
                                           bool all_static) const {
  const bool preferred =
      std::any_of(state_.registries.begin(), state_.registries.end(),
                  [&](const auto* registry) { return bool(registry->supports(node)); });
  if (!preferred && all_static && onnx::subgraphs(node).empty()) {
    if (auto op = fastest_operator(node, inputs, constants, state_.candidates)) return op;
  }
  return state_.make(node);
}

void Compiler::compile_node(const onnx::Node& node) {
  Step step;
  step.node = &node;
  for (const auto& name : node.inputs) step.inputs.push_back(name.empty() ? nullptr : &at(name));
  const auto reads = read_names(node);
  for (std::size_t i = step.input_names(); i < reads.size(); ++i) {
    // A subgraph may capture the graph's outer scope, which its own runner binds.
    if (Slot* slot = find(reads[i])) step.captured.push_back(slot);
  }

  std::vector<ValueDesc> inputs;
  std::vector<const Value*> constants;
  bool all_static = true;
  for (const Slot* slot : step.inputs) {
    inputs.push_back(slot ? slot->desc : ValueDesc());
    constants.push_back(slot && slot->origin == Origin::constant ? slot->value : nullptr);
    all_static = all_static && (!slot || slot->desc.is_static());
  }
  auto op = choose(node, inputs, constants, all_static);
  std::vector<ValueDesc> outputs(node.outputs.size());
  if (all_static) {
    auto inferred = op->infer(InferContext(node, inputs, constants));
    inferred.resize(node.outputs.size());
    for (std::size_t k = 0; k < inferred.size(); ++k) {
      if (!node.has_output(k)) continue;
      step.dynamic = step.dynamic || !inferred[k].is_static();
      outputs[k] = inferred[k];
    }
  } else {
    step.dynamic = true;
  }

  NodeServices& services = plan_->services.emplace_back(state_, node);
  services.bind_subgraphs(node, [&](const std::string& name) -> const Value* {
    Slot* slot = find(name);
    return slot ? slot->value : nullptr;
  });
  step.services = &services;
  step.differentiable.resize(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    step.differentiable[i] = op->differentiable(i);
  step.reads_input.resize(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    step.reads_input[i] = op->backward_needs_input(i);
  }
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    step.reads_output.push_back(op->backward_needs_output(k));
  }
  step.in_place = step.dynamic ? -1 : op->in_place_output();

  const bool foldable = onnx::subgraphs(node).empty() &&
                        std::all_of(step.inputs.begin(), step.inputs.end(), [](const Slot* slot) {
                          return !slot || slot->origin == Origin::constant;
                        });
  if (foldable) {
    if (auto values = fold(node, constants, state_)) {
      for (std::size_t k = 0; k < node.outputs.size(); ++k) {
        if (!node.has_output(k)) continue;
        Slot& slot = define(node.outputs[k]);
        slot.desc = (*values)[k].desc();
        slot.origin = Origin::constant;
        *slot.value = std::move((*values)[k]);
      }
      return;
    }
  }

  if (step.dynamic) {
    op = std::make_unique<DynamicOperator>(state_, std::move(op), mode());
  } else {
    PlanContext context(node, inputs, constants, outputs, mode());
    op->plan(context);
    step.scratch_bytes = context.scratch_bytes();
    if (mode() == Mode::training) step.saved = context.saved();
  }
  step.op = plan_->operators.emplace_back(std::move(op)).get();
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    Slot* slot = nullptr;
    if (node.has_output(k)) {
      slot = &define(node.outputs[k]);
      slot->desc = std::move(outputs[k]);
      slot->origin = step.dynamic ? Origin::dynamic : Origin::planned;
      if (!step.dynamic) plan_->planned.emplace_back(slot->value, &node);
      slot->block = step.dynamic ? kNoBlock : request_block(slot->desc.tensor, steps_.size());
    }
    step.outputs.push_back(slot);
  }
  const std::size_t now = steps_.size();
  for (Slot* slot : step.inputs) {
    if (slot) keep_until(*slot, now);
  }
  for (Slot* slot : step.captured) keep_until(*slot, now);
  steps_.push_back(std::move(step));
}

std::size_t Compiler::request_block(const TensorDesc& desc, std::size_t begin) {
  if (desc.dtype == DType::string) return kNoBlock;
  blocks_.push_back({desc.bytes(), begin, begin, 0});
  return blocks_.size() - 1;
}

std::size_t Compiler::request_scratch(const Step& step, std::size_t time) {
  if (step.scratch_bytes == 0) return kNoBlock;
  blocks_.push_back({step.scratch_bytes, time, time, 0});
  return blocks_.size() - 1;
}

void Compiler::keep_until(const Slot& slot, std::size_t time) {
  if (slot.block == kNoBlock) return;
  blocks_[slot.block].end = std::max(blocks_[slot.block].end, time);
}

void Compiler::share_blocks() {
  for (std::size_t now = 0; now < steps_.size(); ++now) {
    const Step& step = steps_[now];
    if (step.in_place < 0 || std::size_t(step.in_place) >= step.outputs.size()) continue;
    Slot* from = step.inputs.empty() ? nullptr : step.inputs.front();
    Slot* to = step.outputs[std::size_t(step.in_place)];
    if (!from || !to || from->block == kNoBlock || to->block == kNoBlock) continue;
    MemoryBlock& old_block = blocks_[from->block];
    MemoryBlock& new_block = blocks_[to->block];
    const bool read_once = std::count(step.inputs.begin(), step.inputs.end(), from) == 1 &&
                           std::count(step.captured.begin(), step.captured.end(), from) == 0;
    if (old_block.end != now || !read_once || old_block.bytes != new_block.bytes) continue;
    old_block.end = new_block.end;
    new_block.bytes = 0;
    to->block = from->block;
  }
}

void Compiler::lay_out() {
  for (std::size_t now = 0; now < steps_.size(); ++now) {
    steps_[now].scratch_block = request_scratch(steps_[now], now);
  }
  plan_->arena = Arena(assign_offsets(blocks_));
  for (Slot& slot : slots_) {
    if (slot.origin != Origin::planned) continue;
    *slot.value = slot.block == kNoBlock ? Tensor::empty(slot.desc.tensor)
                                         : tensor_at(slot.block, slot.desc.tensor);
  }
}

Tensor Compiler::tensor_at(std::size_t block, const TensorDesc& desc) const {
  return plan_->arena.at(blocks_[block].offset, desc);
}

std::span<std::byte> Compiler::bytes_at(std::size_t block) const {
  if (block == kNoBlock) return {};
  Tensor bytes = tensor_at(block, {DType::uint8, {std::int64_t(blocks_[block].bytes)}});
  return std::as_writable_bytes(bytes.span<std::uint8_t>());
}

void Compiler::link_forward() {
  for (Step& step : steps_) {
    auto& inputs = plan_->input_lists.emplace_back();
    auto& outputs = plan_->writable_lists.emplace_back();
    for (const Slot* slot : step.inputs) inputs.push_back(slot ? slot->value : nullptr);
    for (const Slot* slot : step.outputs) outputs.push_back(slot ? slot->value : nullptr);
    auto& saved = plan_->saved_lists.emplace_back();
    for (std::size_t k = 0; k < step.saved.size(); ++k) {
      saved.push_back(step.saved_blocks[k] == kNoBlock
                          ? Tensor::empty(step.saved[k])
                          : tensor_at(step.saved_blocks[k], step.saved[k]));
    }
    step.saved_tensors = saved;
    OpContext context;
    context.inputs = inputs;
    context.outputs = outputs;
    context.scratch_bytes = bytes_at(step.scratch_block);
    context.saved_tensors = saved;
    context.run_mode = mode();
    context.run_services = step.services;
    context.context_node = step.node;
    plan_->forward.push_back({step.op, context});
  }
}

void Compiler::link_outputs() {
  for (const auto& output : request_.graph->outputs) {
    const Slot& slot = at(output.name);
    Value& answer = plan_->outputs[output.name];
    answer = *slot.value;
    if (slot.origin == Origin::fed || slot.origin == Origin::dynamic) {
      plan_->changing_outputs.push_back({&answer, slot.value});
    }
  }
  for (const auto& [constant, output] : request_.updates) {
    plan_->updates.push_back({at(constant).value->tensor(), at(output).value});
  }
}

std::unique_ptr<Plan> Compiler::compile() {
  define_sources();
  for (const auto& node : request_.graph->nodes) compile_node(node);
  for (const auto& output : request_.graph->outputs)
    keep_until(at(output.name), MemoryBlock::kForever);
  for (const auto& [constant, output] : request_.updates) {
    keep_until(at(output), MemoryBlock::kForever);
  }
  BackwardCompiler backward(*this);
  if (mode() == Mode::training) backward.plan();
  share_blocks();
  lay_out();
  link_forward();
  link_outputs();
  if (mode() == Mode::training) backward.link();
  return std::move(plan_);
}

std::unique_ptr<Plan> compile(const CompileRequest& request, RunState& state) {
  return Compiler(request, state).compile();
}

}  // namespace d5
