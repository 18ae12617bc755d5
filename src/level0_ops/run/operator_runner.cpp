// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/run/operator_runner.hpp"

#include <fmt/format.h>

#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "level0_ops/run/guarded_pages.hpp"

namespace d5 {
namespace {

/// Copies of values for a guarded kernel, so that reads out of bounds are detected.
std::vector<Value> guarded(std::vector<Value> values) {
  for (Value& value : values) {
    if (value.is_tensor()) value = detail::guarded_copy(value.tensor());
  }
  return values;
}

}  // namespace

struct OperatorRunner::State {
  /// Services without an executor: memory from the heap, the same random numbers at every run.
  class Services final : public RunServices {
   public:
    explicit Services(const onnx::Node& node) : node_(node), stream_(stream_of(node.name)) {}

    Tensor allocate(const TensorDesc& desc) override { return Tensor::empty(desc); }
    SubgraphRunner& subgraph(std::string_view attribute) override {
      throw Unsupported(fmt::format("{}: subgraph {} needs a network; run the node inside one",
                                    onnx::describe(node_), printable(attribute)));
    }
    RandomStream random() override { return RandomStream(0, stream_); }
    std::int64_t iteration_budget() const override { return 1'000'000; }

   private:
    const onnx::Node& node_;
    std::uint32_t stream_;
  };

  onnx::Node node;
  std::vector<Value> inputs, outputs;
  std::vector<const Value*> input_pointers;
  std::vector<Value*> output_pointers;
  std::vector<Tensor> grad_inputs;
  std::vector<Tensor*> grad_input_pointers;
  std::vector<const Tensor*> grad_output_pointers;
  std::unique_ptr<Operator> op;
  Services services;
  NodeRun run;
  Mode mode;
  bool inputs_changed = false;

  State(const OperatorRegistry& registry, onnx::Node one, std::vector<Value> values, Mode in_mode,
        Guard guard, Device device, const std::optional<Places>& gradients)
      : node(std::move(one)),
        inputs(guard == Guard::on ? guarded(std::move(values)) : std::move(values)),
        outputs(node.outputs.size()),
        op(operator_for(node, std::vector{&registry})),
        services(node),
        run(node, *op, {&registry},
            {.mode = in_mode,
             .device = device,
             .grad_inputs =
                 in_mode == Mode::training ? gradients.value_or(op->gradients()) : Places()},
            services, guard),
        mode(in_mode) {}

  [[nodiscard]] TensorDesc gradient_desc(std::size_t i) const {
    TensorDesc desc = inputs[i].tensor().desc();
    desc.device = run.device();
    return desc;
  }

  /// Calls `use(context)` with the context before a run.
  template <class F>
  auto known(const F& use) const {
    std::vector<ValueDesc> descs(inputs.size());
    for (std::size_t i = 0; i < descs.size(); ++i) {
      if (input_pointers[i]) descs[i] = inputs[i].desc();
    }
    return use(InferContext(node, descs, input_pointers));
  }

  void plan() {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      input_pointers.push_back(node.has_input(i) ? &inputs[i] : nullptr);
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      output_pointers.push_back(node.has_output(k) ? &outputs[k] : nullptr);
    }
    run.plan(input_pointers, output_pointers);
    grad_inputs.resize(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (run.wants_grad(i)) {
        grad_inputs[i] = run.allocate(gradient_desc(i), fmt::format("the gradient of input {}", i));
      }
      grad_input_pointers.push_back(run.wants_grad(i) ? &grad_inputs[i] : nullptr);
    }
  }
};

OperatorRunner::OperatorRunner(const OperatorRegistry& registry, onnx::Node node,
                               std::vector<Value> inputs, Mode mode, Guard guard, Device device,
                               std::optional<Places> gradients) {
  if (inputs.size() != node.inputs.size()) {
    throw ShapeError(fmt::format("{}: {} inputs were given, but the node has {}",
                                 onnx::describe(node), inputs.size(), node.inputs.size()));
  }
  state_ = std::make_unique<State>(registry, std::move(node), std::move(inputs), mode, guard,
                                   device, gradients);
  state_->plan();
}

OperatorRunner::OperatorRunner(OperatorRunner&&) noexcept = default;
OperatorRunner::~OperatorRunner() = default;

void OperatorRunner::forward() {
  const Span span("operator", state_->node.op_type);
  if (std::exchange(state_->inputs_changed, false)) state_->run.renew_inputs();
  state_->run.forward();
}

void OperatorRunner::synchronise() { state_->run.synchronise(); }

void OperatorRunner::backward(const std::vector<Tensor>& grad_outputs) {
  State& s = *state_;
  if (s.mode != Mode::training) {
    throw ValueError(fmt::format("{}: backward needs Mode::training", onnx::describe(s.node)));
  }
  s.grad_output_pointers.assign(grad_outputs.size(), nullptr);
  for (std::size_t i = 0; i < grad_outputs.size(); ++i) {
    const Tensor& gradient = grad_outputs[i];
    if (!gradient.defined()) continue;
    if (gradient.desc() != s.outputs.at(i).tensor().desc()) {
      throw ShapeError(fmt::format("{}: the gradient of output {} is {}, expected {}",
                                   onnx::describe(s.node), i, to_string(gradient.desc()),
                                   to_string(s.outputs[i].desc())));
    }
    s.grad_output_pointers[i] = &gradient;
  }
  const Span span("operator", [&] { return s.node.op_type + " backward"; });
  s.run.backward(s.grad_output_pointers, s.grad_input_pointers);
}

Value& OperatorRunner::input(std::size_t i) {
  state_->inputs_changed = true;
  return state_->inputs.at(i);
}
const Value& OperatorRunner::output(std::size_t i) const { return state_->outputs.at(i); }
std::size_t OperatorRunner::output_count() const { return state_->outputs.size(); }
const Tensor& OperatorRunner::grad_input(std::size_t i) const { return state_->grad_inputs.at(i); }
const Operator& OperatorRunner::op() const { return *state_->op; }

Cost OperatorRunner::cost() const {
  return state_->known([&](const InferContext& context) { return op().cost(context); });
}

std::optional<Cost> OperatorRunner::gradient_cost() const {
  Places wanted;
  for (std::size_t i = 0; i < state_->inputs.size(); ++i) {
    if (state_->run.wants_grad(i)) wanted.add(i);
  }
  return state_->known(
      [&](const InferContext& context) { return op().gradient_cost(context, wanted); });
}

}  // namespace d5
