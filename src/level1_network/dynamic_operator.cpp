// SPDX-License-Identifier: Apache-2.0
#include "level1_network/dynamic_operator.hpp"

namespace d5 {
namespace {

/// Whether a plan for `a` serves for `b`. What is no tensor is never planned for.
bool same(const ValueDesc& a, const ValueDesc& b) {
  return a.kind == b.kind && (a.kind == ValueKind::none || (a.is_tensor() && a.tensor == b.tensor));
}

}  // namespace

void DynamicOperator::forward(OpContext& context) {
  std::vector<ValueDesc> inputs(context.input_count());
  std::vector<const Value*> values(context.inputs.begin(), context.inputs.end());
  bool changed = !planned_ || inputs.size() != inputs_.size();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (context.has_input(i)) inputs[i] = context.input_value(i).desc();
    changed = changed || !same(inputs[i], inputs_[i]);
  }
  // A subgraph's value that is nothing (an optional that was never set) is as one left out.
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind == ValueKind::none) values[i] = nullptr;
  }
  const auto outputs = op_->infer(InferContext(context.node(), inputs, values));
  std::vector<TensorDesc> tensors;
  for (const auto& output : outputs) tensors.push_back(output.tensor);
  if (changed || tensors != outputs_) {
    if (planned_) op_ = state_.make(context.node());
    inputs_ = std::move(inputs);
    outputs_ = std::move(tensors);
    prepare(context, values, outputs);
  }
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    if (!context.wants_output(i)) continue;
    const bool ready = i < outputs.size() && outputs[i].is_static();
    *context.outputs[i] = ready ? Value(state_.allocate(outputs[i].tensor)) : Value();
  }
  if (scratch_.defined())
    context.scratch_bytes = std::as_writable_bytes(scratch_.span<std::uint8_t>());
  context.saved_tensors = saved_;
  op_->forward(context);
}

void DynamicOperator::prepare(OpContext& context, std::span<const Value* const> constants,
                              std::span<const ValueDesc> outputs) {
  PlanContext plan(context.node(), inputs_, constants, outputs, mode_);
  op_->plan(plan);
  planned_ = true;
  scratch_ = {};
  if (plan.scratch_bytes() > 0) {
    scratch_ = state_.allocate({DType::uint8, {std::int64_t(plan.scratch_bytes())}});
  }
  saved_.clear();
  if (mode_ == Mode::training) {
    for (const auto& desc : plan.saved()) saved_.push_back(state_.allocate(desc));
  }
}

void DynamicOperator::backward(GradContext& context) {
  context.saved_tensors = saved_;
  if (scratch_.defined())
    context.scratch_bytes = std::as_writable_bytes(scratch_.span<std::uint8_t>());
  op_->backward(context);
}

}  // namespace d5
