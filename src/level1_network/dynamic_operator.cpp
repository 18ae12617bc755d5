// SPDX-License-Identifier: Apache-2.0
#include "level1_network/dynamic_operator.hpp"

namespace d5 {

void DynamicOperator::forward(OpContext& context) {
  std::vector<ValueDesc> inputs(context.input_count());
  std::vector<const Value*> values(context.inputs.begin(), context.inputs.end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (context.has_input(i)) inputs[i] = context.input_value(i).desc();
    // A subgraph's value that is nothing (an optional that was never set) is as one left out.
    if (inputs[i].kind == ValueKind::none) values[i] = nullptr;
  }
  // Planning may read values, not only shapes, and an operator is planned once: hence a new one.
  if (planned_) op_ = state_.make(context.node());
  const auto outputs = op_->infer(InferContext(context.node(), inputs, values));
  prepare(context, inputs, values, outputs);
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

void DynamicOperator::prepare(OpContext& context, std::span<const ValueDesc> inputs,
                              std::span<const Value* const> constants,
                              std::span<const ValueDesc> outputs) {
  PlanContext plan(context.node(), inputs, constants, outputs, mode_);
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
