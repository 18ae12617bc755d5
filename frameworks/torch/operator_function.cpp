// SPDX-License-Identifier: Apache-2.0
#include "operator_function.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <torch/csrc/autograd/custom_function.h>

#include <memory>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"

namespace d5::torch {

using ::torch::autograd::AutogradContext;
using ::torch::autograd::Variable;
using ::torch::autograd::variable_list;

namespace {

/// A torch tensor over d5's memory; it keeps that memory alive.
at::Tensor wrap_owned(const Tensor& tensor) {
  expect_holds(tensor.shape());
  return at::from_blob(
      const_cast<void*>(tensor.raw()), sizes_of(tensor.shape()), [keeps = tensor](void*) {},
      at::TensorOptions().dtype(scalar_type(tensor.dtype())));
}

}  // namespace

/// The operator, planned for the first inputs; all later ones must have the same shapes.
struct OperatorFunction::Run {
  Run(const OperatorRegistry& registry, const onnx::Node& planned, Mode run_mode)
      : operators(registry), node(planned), mode(run_mode) {}

  void forward(Inputs inputs) {
    if (runner) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].defined()) runner->input(i) = share(inputs[i].detach());
      }
    } else {
      std::vector<Value> values(inputs.size());
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].defined()) values[i] = share(inputs[i].detach());
      }
      runner = std::make_unique<OperatorRunner>(operators, node, std::move(values), mode);
    }
    runner->forward();
  }

  /// Undefined if the node has none.
  [[nodiscard]] at::Tensor output(std::size_t k) const {
    return node.has_output(k) ? wrap_owned(runner->output(k).tensor()) : at::Tensor();
  }

  const OperatorRegistry& operators;
  const onnx::Node& node;
  Mode mode;
  std::unique_ptr<OperatorRunner> runner;
  std::vector<std::size_t> tracked = {};  ///< inputs that require a gradient
};

namespace {

/// A run that torch keeps from forward to backward.
struct Held : ::torch::CustomClassHolder {
  explicit Held(std::shared_ptr<OperatorFunction::Run> held) : run(std::move(held)) {}
  std::shared_ptr<OperatorFunction::Run> run;
};

/// The function that autograd records. It sees single tensors among the arguments, not lists:
/// `tracked` are the inputs that require a gradient.
struct Recorded : ::torch::autograd::Function<Recorded> {
  using Run = OperatorFunction::Run;

  /// The existing outputs of the node.
  template <class... Tensors>
  static variable_list forward(AutogradContext* context, const std::shared_ptr<Run>& run,
                               const Inputs& inputs, const Tensors&... /*tracked*/) {
    context->saved_data["run"] = c10::IValue::make_capsule(c10::make_intrusive<Held>(run));
    context->set_materialize_grads(false);
    run->forward(inputs);
    variable_list outputs;
    for (std::size_t k = 0; k < run->node.outputs.size(); ++k) {
      if (at::Tensor output = run->output(k); output.defined()) outputs.push_back(output);
    }
    return outputs;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data["run"].toCapsule();
    const Run& run = *static_cast<const Held&>(*capsule).run;
    std::vector<Tensor> grad_outputs(run.node.outputs.size());
    std::size_t given = 0;
    for (std::size_t k = 0; k < grad_outputs.size(); ++k) {
      if (!run.node.has_output(k)) continue;
      const at::Tensor& gradient = gradients[given++];
      if (gradient.defined()) grad_outputs[k] = share(gradient);
    }
    run.runner->backward(grad_outputs);
    variable_list grad_arguments(2);  // the first two are not tensors
    for (const std::size_t i : run.tracked) {
      const Tensor& gradient = run.runner->grad_input(i);
      grad_arguments.push_back(gradient.defined() ? wrap_owned(gradient) : Variable());
    }
    return grad_arguments;
  }
};

constexpr std::size_t kMostTracked = 16;

/// Calls `Recorded::apply` with the first `count` of the tracked inputs, a number known only at run
/// time.
template <class... Tensors>
variable_list apply_recorded(std::size_t count, const std::shared_ptr<OperatorFunction::Run>& run,
                             Inputs inputs, const Tensors&... tracked) {
  constexpr std::size_t kHere = sizeof...(tracked);
  if (count == kHere) return Recorded::apply(run, inputs, tracked...);
  if constexpr (kHere < kMostTracked) {
    return apply_recorded(count, run, inputs, tracked..., inputs[run->tracked[kHere]]);
  } else {
    throw Unsupported(onnx::describe(run->node) + ": torch's executor records " +
                      std::to_string(kMostTracked) +
                      " inputs with gradients at most; train it in a "
                      "plan (--framework torch)");
  }
}

}  // namespace

OperatorFunction::OperatorFunction(const PlanContext& context, const OperatorRegistry& operators)
    : TorchKernel(context),
      training_(std::make_shared<Run>(operators, context.node(), Mode::training)),
      inference_(std::make_shared<Run>(operators, context.node(), Mode::inference)) {}

void OperatorFunction::call(Inputs inputs, Results results, const Random&) const {
  auto& tracked = training_->tracked;
  tracked.clear();
  for (std::size_t i = 0; i < inputs.size() && at::GradMode::is_enabled(); ++i) {
    if (inputs[i].defined() && inputs[i].requires_grad()) tracked.push_back(i);
  }
  if (tracked.empty()) {
    inference_->forward(inputs);
    for (std::size_t k = 0; k < results.size(); ++k) results[k] = inference_->output(k);
    return;
  }
  const variable_list outputs = apply_recorded(tracked.size(), training_, inputs);
  std::size_t given = 0;
  for (std::size_t k = 0; k < results.size(); ++k) {
    results[k] = node().has_output(k) ? outputs[given++] : at::Tensor();
  }
}

}  // namespace d5::torch
