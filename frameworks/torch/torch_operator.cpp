// SPDX-License-Identifier: Apache-2.0
#include "torch_operator.hpp"

#include <ATen/ops/zeros_like.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "d5/core/framework.hpp"
#include "result_memory.hpp"

namespace d5::torch {
namespace {

const OperatorRegistry& reference() {
  static const OperatorRegistry& registry = framework("reference").part<OperatorRegistry>();
  return registry;
}

/// The message of a torch error, without its stack.
[[noreturn]] void rethrow(const c10::Error& error, const std::string& who) {
  const std::string message = who + ": torch says: " + error.what_without_backtrace();
  if (dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr ||
      message.find("not implemented for") != std::string::npos) {
    throw Unsupported(message);
  }
  throw ValueError(message);
}

bool is_floating(const Tensor& tensor) { return is_floating_point(tensor.dtype()); }

}  // namespace

Support reference_supports(const onnx::Node& node) {
  Support support = reference().supports(node);
  if (!support) support.reason += " (the reference has none to say what it means)";
  return support;
}

std::vector<std::int64_t> integers(const at::Tensor& tensor) {
  const at::Tensor wide = tensor.scalar_type() == at::kLong ? tensor : tensor.to(at::kLong);
  const auto* values = wide.const_data_ptr<std::int64_t>();
  return {values, values + wide.numel()};
}

TorchOperator::TorchOperator(const onnx::Node& node)
    : node_(node),
      reference_(reference().make(node)),
      inputs_(node.inputs.size()),
      outputs_(node.outputs.size()),
      saved_(kMostSaved),
      grad_outputs_(node.outputs.size()),
      grad_inputs_(node.inputs.size()) {}

std::vector<ValueDesc> TorchOperator::infer(const InferContext& context) const {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    if (!context.value(i).is_tensor()) {
      throw Unsupported(context.who() + ": input " + std::to_string(i) + " is " +
                        to_string(context.value(i)) + "; torch takes tensors only");
    }
    (void)scalar_type(context.dtype(i));
  }
  auto outputs = reference_->infer(context);
  for (const ValueDesc& output : outputs) {
    if (output.is_tensor()) (void)scalar_type(output.tensor.dtype);
  }
  return outputs;
}

bool TorchOperator::differentiable(std::size_t input) const {
  return reference_->differentiable(input);
}

Cost TorchOperator::cost(const InferContext& context) const { return reference_->cost(context); }

void TorchOperator::forward(OpContext& context) {
  const c10::InferenceMode without_autograd;
  try {
    run(context);
  } catch (const c10::Error& error) {
    rethrow(error, context.who());
  }
}

void TorchOperator::backward(GradContext& context) {
  const c10::InferenceMode without_autograd;
  try {
    differentiate(context);
  } catch (const c10::Error& error) {
    rethrow(error, context.who());
  }
}

void TorchOperator::run(OpContext& context) {
  std::vector<at::Tensor> inputs(context.input_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (context.has_input(i)) inputs[i] = in(context, i);
  }
  const auto is_planned = [&](std::size_t i) {
    return context.wants_output(i) && context.outputs[i]->is_tensor() &&
           context.output(i).defined() && context.output(i).shape().is_static();
  };
  const auto is_input = [&](const Tensor& output) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (context.has_input(i) && context.input(i).raw() == output.raw()) return true;
    }
    return false;
  };
  ResultMemory memory;
  for (std::size_t i = 0; i < context.output_count() && i < ResultMemory::kMost; ++i) {
    const bool safe = is_planned(i) && !is_input(context.output(i));
    memory.offer(safe ? out(context, i) : at::Tensor());
  }
  Results results = call(inputs, {.mode = context.mode()});
  memory.deliver(results);
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    if (!context.wants_output(i)) continue;
    const at::Tensor& result = results.at(i);
    if (!is_planned(i)) {
      const TensorDesc desc{
          dtype_of_scalar(result.scalar_type()),
          Shape(std::span<const std::int64_t>(result.sizes().data(), result.dim()))};
      wrap(context.allocate(i, desc)).copy_(result);
    } else if (result.sizes() != out(context, i).sizes()) {
      throw std::logic_error(context.who() + ": torch and the reference disagree about a shape");
    } else if (is_input(context.output(i)) || i >= ResultMemory::kMost) {
      at::Tensor& target = out(context, i);
      if (result.data_ptr() != target.data_ptr() || !result.is_contiguous()) target.copy_(result);
    }
  }
}

void TorchOperator::differentiate(GradContext& context) { differentiate_by_autograd(context); }

void TorchOperator::differentiate_by_autograd(GradContext& context) {
  const c10::InferenceMode recording(false);
  const at::AutoGradMode grad_mode(true);
  std::vector<at::Tensor> inputs(context.input_count()), wanted;
  std::vector<std::size_t> wanted_index;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!context.has_input(i)) continue;
    inputs[i] = wrap(context.input(i));
    if (context.wants_grad(i) && is_floating(context.input(i))) {
      inputs[i].requires_grad_(true);
      wanted.push_back(inputs[i]);
      wanted_index.push_back(i);
    }
  }
  const Results results = call(inputs, {.mode = Mode::training});
  std::vector<at::Tensor> outputs, gradients;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (context.has_grad_output(i) && results[i].requires_grad()) {
      outputs.push_back(results[i]);
      gradients.push_back(wrap(context.grad_output(i)));
    }
  }
  std::vector<at::Tensor> found(wanted.size());
  if (!outputs.empty()) {
    found = ::torch::autograd::grad(outputs, wanted, gradients, /*retain_graph=*/false,
                                    /*create_graph=*/false, /*allow_unused=*/true);
  }
  const at::AutoGradMode no_grad(false);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    at::Tensor target = wrap(context.grad_input(wanted_index[k]));
    if (found[k].defined()) {
      target.copy_(found[k]);
    } else {
      target.zero_();
    }
  }
}

at::Tensor& TorchOperator::in(const OpContext& context, std::size_t i) {
  return inputs_[i].of(context.input(i));
}
at::Tensor& TorchOperator::in(const GradContext& context, std::size_t i) {
  return inputs_[i].of(context.input(i));
}
at::Tensor& TorchOperator::out(const OpContext& context, std::size_t i) {
  return outputs_[i].of(context.output(i));
}
at::Tensor& TorchOperator::out(const GradContext& context, std::size_t i) {
  return outputs_[i].of(context.output(i));
}
at::Tensor& TorchOperator::saved(const OpContext& context, std::size_t k) {
  return saved_[k].of(context.saved(k));
}
at::Tensor& TorchOperator::saved(const GradContext& context, std::size_t k) {
  return saved_[k].of(context.saved(k));
}
at::Tensor& TorchOperator::grad_out(const GradContext& context, std::size_t i) {
  return grad_outputs_[i].of(context.grad_output(i));
}
at::Tensor& TorchOperator::grad_in(const GradContext& context, std::size_t i) {
  return grad_inputs_[i].of(context.grad_input(i));
}

}  // namespace d5::torch
