// SPDX-License-Identifier: Apache-2.0
#include "native_operator.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>

#include <sstream>
#include <variant>

#include "bound_arguments.hpp"
#include "d5/core/error.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

/// Calls the function. Throws: c10::Error; Unsupported for results that are no tensors.
void call_function(const c10::OperatorHandle& function, const BoundArguments& arguments,
                   Inputs inputs, Results results, const std::string& who) {
  ::torch::jit::Stack stack = arguments.stack(inputs);
  function.callBoxed(stack);
  std::size_t k = 0;
  const auto put = [&](const at::Tensor& result) {
    if (k < results.size()) results[k] = result;
    ++k;
  };
  for (const c10::IValue& value : stack) {
    if (value.isTensor()) {
      put(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& result : value.toTensorVector()) put(result);
    } else {
      throw Unsupported(who + ": its result is a " + value.tagKind() + ", and no tensor");
    }
  }
  if (k < results.size()) {
    throw ShapeError(who + ": it has " + std::to_string(k) + " outputs, and the node " +
                     std::to_string(results.size()));
  }
}

class NativeKernel final : public TorchKernel {
 public:
  NativeKernel(const PlanContext& context, c10::OperatorHandle function, BoundArguments arguments)
      : TorchKernel(context), function_(std::move(function)), arguments_(std::move(arguments)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    call_function(function_, arguments_, inputs, results, onnx::describe(node()));
  }

 private:
  c10::OperatorHandle function_;
  BoundArguments arguments_;
};

class NativeOperator final : public Operator {
 public:
  NativeOperator(c10::OperatorHandle function, BoundArguments arguments)
      : function_(std::move(function)), arguments_(std::move(arguments)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const c10::InferenceMode without_autograd;
    std::vector<at::Tensor> inputs(context.input_count()), results(context.output_count());
    try {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!context.has_input(i)) continue;
        const TensorDesc& desc = context.input(i);
        inputs[i] = at::empty(sizes_of(desc.shape),
                              at::TensorOptions(at::kMeta).dtype(scalar_type(desc.dtype)));
      }
      call_function(function_, arguments_, inputs, results, context.who());
    } catch (...) {
      rethrow(context.who());
    }
    std::vector<ValueDesc> outputs;
    for (const at::Tensor& result : results) {
      const std::span<const std::int64_t> sizes(result.sizes().data(), result.sizes().size());
      outputs.emplace_back(TensorDesc{dtype_of_scalar(result.scalar_type()), Shape(sizes)});
    }
    return outputs;
  }

  Places gradients() const override { return Places::all(); }

  /// Torch does not tell a function's arithmetic.
  Cost cost(const InferContext& context) const override { return bytes_only(context); }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<NativeKernel>(context, function_, arguments_);
  }

 private:
  c10::OperatorHandle function_;
  BoundArguments arguments_;
};

std::vector<c10::OperatorHandle> overloads_of(const std::string& name) {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::vector<c10::OperatorHandle> result;
  for (const auto& known : dispatcher.getAllOpNames()) {
    if (known.name != name) continue;
    auto function = dispatcher.findSchema(known);
    // One that writes into its arguments is no function of them.
    if (function && !function->schema().is_mutable()) result.push_back(*function);
  }
  return result;
}

std::unique_ptr<Operator> make(const std::vector<c10::OperatorHandle>& overloads,
                               const onnx::Node& node) {
  std::ostringstream refusals;
  for (const c10::OperatorHandle& function : overloads) {
    try {
      return std::make_unique<NativeOperator>(function, BoundArguments(function.schema(), node));
    } catch (const ValueError& error) {
      refusals << "\n  " << function.schema() << ": " << error.what();
    }
  }
  throw ValueError(onnx::describe(node) + ": its inputs and attributes fit none of torch's" +
                   refusals.str());
}

}  // namespace

OperatorRegistry::Make find_native_operator(const onnx::Node& node) {
  auto overloads = overloads_of(node.domain + "::" + node.op_type);
  if (overloads.empty()) return {};
  return [overloads = std::move(overloads)](const onnx::Node& one) { return make(overloads, one); };
}

}  // namespace d5::torch
