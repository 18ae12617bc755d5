// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator_runner.hpp"

#include <fmt/format.h>

#include "d5/core/arena.hpp"
#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"

namespace d5 {
namespace {

/// Services without an executor: memory from the heap, the same random numbers at every run.
class RunnerServices final : public RunServices {
 public:
  explicit RunnerServices(const onnx::Node& node) : node_(node) {}

  Tensor allocate(const TensorDesc& desc) override { return Tensor::empty(desc); }
  SubgraphRunner& subgraph(std::string_view attribute) override {
    throw Unsupported(fmt::format("{}: subgraph {} needs a network; run the node inside one",
                                  onnx::describe(node_), printable(attribute)));
  }
  RandomStream random() override { return RandomStream(0, stream_of(node_.name)); }
  std::int64_t iteration_budget() const override { return 1'000'000; }

 private:
  const onnx::Node& node_;
};

bool is_real(const ValueDesc& desc) {
  return desc.is_tensor() && is_floating_point(desc.tensor.dtype);
}

}  // namespace

struct OperatorRunner::State {
  onnx::Node node;
  std::vector<Value> inputs, outputs;
  std::vector<ValueDesc> input_descs, output_descs;
  std::vector<const Value*> input_pointers;
  std::unique_ptr<Operator> op;
  RunnerServices services{node};
  Tensor scratch;
  std::vector<Tensor> saved, grad_inputs;
  std::vector<Value*> output_pointers;
  Mode mode = Mode::inference;

  [[nodiscard]] InferContext infer_context() const { return {node, input_descs, input_pointers}; }
};

OperatorRunner::OperatorRunner(const OperatorRegistry& registry, onnx::Node node,
                               std::vector<Value> inputs, Mode mode)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.node = std::move(node);
  s.inputs = std::move(inputs);
  s.mode = mode;
  if (s.inputs.size() != s.node.inputs.size()) {
    throw ShapeError(fmt::format("{}: {} inputs were given, but the node has {}",
                                 onnx::describe(s.node), s.inputs.size(), s.node.inputs.size()));
  }
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    const bool present = s.node.has_input(i) && s.inputs[i].kind() != ValueKind::none;
    s.input_descs.push_back(present ? s.inputs[i].desc() : ValueDesc{});
    s.input_pointers.push_back(present ? &s.inputs[i] : nullptr);
  }
  s.op = registry.make(s.node);
  s.output_descs = s.op->infer(s.infer_context());
  if (s.output_descs.size() < s.node.outputs.size()) {
    throw ShapeError(fmt::format("{}: {} outputs were asked for, but there are {}",
                                 onnx::describe(s.node), s.node.outputs.size(),
                                 s.output_descs.size()));
  }

  PlanContext plan(s.node, s.input_descs, s.input_pointers, s.output_descs, mode);
  s.op->plan(plan);
  s.scratch = Arena(plan.scratch_bytes()).block();
  if (mode == Mode::training) {
    for (const TensorDesc& desc : plan.saved()) s.saved.push_back(Tensor::empty(desc));
  }
  s.outputs.resize(s.node.outputs.size());
  for (std::size_t i = 0; i < s.outputs.size(); ++i) {
    if (s.node.has_output(i) && s.output_descs[i].is_static()) {
      s.outputs[i] = Tensor::empty(s.output_descs[i].tensor);
    }
    s.output_pointers.push_back(s.node.has_output(i) ? &s.outputs[i] : nullptr);
  }
  s.grad_inputs.resize(s.inputs.size());
  for (std::size_t i = 0; mode == Mode::training && i < s.inputs.size(); ++i) {
    if (is_real(s.input_descs[i]) && s.op->differentiable(i)) {
      s.grad_inputs[i] = Tensor::empty(s.input_descs[i].tensor);
    }
  }
}

OperatorRunner::OperatorRunner(OperatorRunner&&) noexcept = default;
OperatorRunner::~OperatorRunner() = default;

void OperatorRunner::forward() {
  State& s = *state_;
  const Span span("operator", s.node.op_type);
  OpContext context;
  context.inputs = s.input_pointers;
  context.outputs = s.output_pointers;
  context.scratch_bytes = {static_cast<std::byte*>(s.scratch.raw()), s.scratch.bytes()};
  context.saved_tensors = s.saved;
  context.run_mode = s.mode;
  context.run_services = &s.services;
  context.context_node = &s.node;
  s.op->forward(context);
}

void OperatorRunner::backward(const std::vector<Tensor>& grad_outputs) {
  State& s = *state_;
  if (s.mode != Mode::training) {
    throw ValueError(fmt::format("{}: backward needs Mode::training", onnx::describe(s.node)));
  }
  // What the operator said it does not read is withheld: a wrong answer shows at once.
  std::vector<const Value*> inputs = s.input_pointers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!s.op->backward_needs_input(i)) inputs[i] = nullptr;
  }
  std::vector<const Value*> outputs(s.output_pointers.begin(), s.output_pointers.end());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!s.op->backward_needs_output(i)) outputs[i] = nullptr;
  }
  std::vector<const Tensor*> gradients;
  for (std::size_t i = 0; i < grad_outputs.size(); ++i) {
    const Tensor& gradient = grad_outputs[i];
    if (gradient.defined() && gradient.desc() != s.outputs.at(i).tensor().desc()) {
      throw ShapeError(fmt::format("{}: the gradient of output {} is {}, expected {}",
                                   onnx::describe(s.node), i, to_string(gradient.desc()),
                                   to_string(s.outputs[i].desc())));
    }
    gradients.push_back(gradient.defined() ? &gradient : nullptr);
  }
  std::vector<Tensor*> grad_inputs;
  for (Tensor& gradient : s.grad_inputs) {
    grad_inputs.push_back(gradient.defined() ? &gradient : nullptr);
  }
  GradContext context;
  context.inputs = inputs;
  context.outputs = outputs;
  context.saved_tensors = s.saved;
  context.grad_outputs = gradients;
  context.grad_inputs = grad_inputs;
  context.scratch_bytes = {static_cast<std::byte*>(s.scratch.raw()), s.scratch.bytes()};
  context.context_node = &s.node;
  const Span span("operator", [&] { return s.node.op_type + " backward"; });
  s.op->backward(context);
}

Value& OperatorRunner::input(std::size_t i) { return state_->inputs.at(i); }
const Value& OperatorRunner::output(std::size_t i) const { return state_->outputs.at(i); }
std::size_t OperatorRunner::output_count() const { return state_->outputs.size(); }
const Tensor& OperatorRunner::grad_input(std::size_t i) const { return state_->grad_inputs.at(i); }
Operator& OperatorRunner::op() { return *state_->op; }
Cost OperatorRunner::cost() const { return state_->op->cost(state_->infer_context()); }

}  // namespace d5
