// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/composed_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/operator/composed_kernel.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::detail {

Composition::Composition(const InferContext& context) : context_(context) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    entries_.push_back({.desc = context.has_input(i) ? context.value(i) : ValueDesc(),
                        .input = std::int64_t(i),
                        .constant = context.constant_value(i)});
  }
}

Term Composition::input(std::size_t i) const {
  return context_.has_input(i) ? Term{std::int64_t(i)} : Term{};
}

const TensorDesc& Composition::desc(Term term) const {
  return entries_[std::size_t(term.id)].desc.tensor;
}

Term Composition::constant(Tensor value) {
  auto own = std::make_shared<const Value>(std::move(value));
  entries_.push_back({.desc = own->desc(), .constant = own.get(), .own = own});
  return {std::int64_t(entries_.size()) - 1};
}

Term Composition::number(double value, DType dtype) {
  return constant(converted(Tensor::scalar(value), dtype));
}

Term Composition::scaled(Term x, double factor) {
  return factor == 1 ? x : add("Mul", {x, number(factor, desc(x).dtype)});
}

Term Composition::add(const std::string& op_type, std::vector<Term> inputs, Attributes attributes) {
  return add(1, op_type, std::move(inputs), std::move(attributes)).front();
}

std::vector<Term> Composition::add(std::size_t outputs, const std::string& op_type,
                                   std::vector<Term> inputs, Attributes attributes,
                                   std::optional<int> opset) {
  Step step{.op = nullptr, .node = {}, .inputs = std::move(inputs), .outputs = {}};
  step.node.op_type = op_type;
  step.node.opset = opset.value_or(onnx::newest_opset(""));
  step.node.attributes = std::move(attributes);
  return add(std::move(step), outputs);
}

std::vector<Term> Composition::add(std::size_t outputs, std::shared_ptr<const Operator> op,
                                   const std::string& op_type, std::vector<Term> inputs) {
  Step step{.op = std::move(op), .node = {}, .inputs = std::move(inputs), .outputs = {}};
  step.node.op_type = op_type;
  return add(std::move(step), outputs);
}

std::vector<Term> Composition::add(Step step, std::size_t outputs) {
  while (!step.inputs.empty() && !step.inputs.back()) step.inputs.pop_back();
  step.node.name = context_.node().name;
  for (const Term term : step.inputs) {
    step.node.inputs.push_back(term ? fmt::format("v{}", term.id) : "");
  }
  for (std::size_t k = 0; k < outputs; ++k) {
    step.outputs.push_back({std::int64_t(entries_.size() + k)});
    step.node.outputs.push_back(fmt::format("v{}", step.outputs.back().id));
  }
  if (!step.op) step.op = operator_for(step.node);
  const auto described =
      step.op->infer(InferContext(step.node, descs(step.inputs), constants(step.inputs)));
  for (std::size_t k = 0; k < outputs; ++k) entries_.push_back({.desc = described.at(k)});
  std::vector<Term> result = step.outputs;
  steps_.push_back(std::move(step));
  return result;
}

void Composition::output(std::size_t k, Term term) {
  entries_[std::size_t(term.id)].output = std::int64_t(k);
}

std::vector<ValueDesc> Composition::outputs() const {
  std::vector<ValueDesc> result(context_.output_count());
  for (const Entry& entry : entries_) {
    const auto k = std::size_t(entry.output);
    if (entry.output < 0) continue;
    result.resize(std::max(result.size(), k + 1));
    result[k] = entry.desc;
  }
  return result;
}

std::vector<ValueDesc> Composition::descs(const std::vector<Term>& terms) const {
  std::vector<ValueDesc> result;
  for (const Term term : terms) {
    result.push_back(term ? entries_[std::size_t(term.id)].desc : ValueDesc());
  }
  return result;
}

std::vector<const Value*> Composition::constants(const std::vector<Term>& terms) const {
  std::vector<const Value*> result;
  for (const Term term : terms) {
    result.push_back(term ? entries_[std::size_t(term.id)].constant : nullptr);
  }
  return result;
}

std::vector<ValueDesc> ComposedOperator::infer(const InferContext& context) const {
  Composition c(context);
  compose(c);
  return c.outputs();
}

Cost ComposedOperator::cost(const InferContext& context) const {
  Composition c(context);
  compose(c);
  double flop = 0;
  for (const auto& step : c.steps()) {
    flop +=
        step.op->cost(InferContext(step.node, c.descs(step.inputs), c.constants(step.inputs))).flop;
  }
  return with_flop(context, flop);
}

std::unique_ptr<Kernel> ComposedOperator::plan(PlanContext& context) const {
  const auto make = [this](PlanContext& own) {
    Composition c(own);
    compose(c);
    return composed_kernel(own, c);
  };
  return is_wide(context) ? make(context) : widening_kernel(context, make);
}

}  // namespace d5::detail
