// SPDX-License-Identifier: Apache-2.0
#include "native_operator.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/core/InferenceMode.h>

#include <sstream>

#include "bound_arguments.hpp"
#include "d5/core/errors/error.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

/// Calls the function. Throws: c10::Error; Unsupported for results that are not tensors.
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
      throw Unsupported(who + ": its result is a " + value.tagKind() + ", not a tensor");
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
    try {
      return described(call_on(context, [](const TensorDesc& desc) {
        return at::empty(sizes_of(desc.shape),
                         at::TensorOptions(at::kMeta).dtype(scalar_type(desc.dtype)));
      }));
    } catch (const c10::NotImplementedError&) {
      return tried(context);
    } catch (...) {
      rethrow(context.who());
    }
  }

  Places gradients() const override { return Places::all(); }

  /// Torch does not report the arithmetic of a function.
  Cost cost(const InferContext& context) const override { return bytes_only(context); }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<NativeKernel>(context, function_, arguments_);
  }

 private:
  using Tensors = std::vector<at::Tensor>;

  /// The function's results for inputs that `make` creates from their descriptors.
  template <class Make>
  Tensors call_on(const InferContext& context, const Make& make) const {
    Tensors inputs(context.input_count()), results(context.output_count());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (context.has_input(i)) inputs[i] = make(context.input(i));
    }
    call_function(function_, arguments_, inputs, results, context.who());
    return results;
  }

  /// Output shapes of a function without a meta kernel, found by calling it: on the values if they
  /// are available, otherwise on zeros and on ones. If the two differ, the shape depends on data.
  std::vector<ValueDesc> tried(const InferContext& context) const {
    try {
      Tensors values(context.input_count()), results(context.output_count());
      bool all_known = true;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!context.has_input(i)) continue;
        const Tensor* value = context.constant(i);
        all_known = all_known && value;
        if (value) values[i] = wrap(*value);
      }
      if (all_known) {
        call_function(function_, arguments_, values, results, context.who());
        return described(results);
      }
      const auto filled = [&](double value) {
        return described(call_on(context, [value](const TensorDesc& desc) {
          return at::full(sizes_of(desc.shape), value, scalar_type(desc.dtype));
        }));
      };
      auto outputs = filled(0);
      const auto others = filled(1);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (outputs[k].tensor == others[k].tensor) continue;
        outputs[k] = unknown_shape(outputs[k].tensor.dtype);
      }
      return outputs;
    } catch (...) {
      rethrow(context.who());
    }
  }

  static std::vector<ValueDesc> described(const Tensors& results) {
    std::vector<ValueDesc> outputs;
    for (const at::Tensor& result : results) {
      const std::span<const std::int64_t> sizes(result.sizes().data(), result.sizes().size());
      outputs.emplace_back(TensorDesc{dtype_of_scalar(result.scalar_type()), Shape(sizes)});
    }
    return outputs;
  }

  c10::OperatorHandle function_;
  BoundArguments arguments_;
};

std::vector<c10::OperatorHandle> overloads_of(const std::string& name) {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::vector<c10::OperatorHandle> result;
  for (const auto& known : dispatcher.getAllOpNames()) {
    if (known.name != name) continue;
    auto function = dispatcher.findSchema(known);
    // A function that writes into its arguments is not a pure function.
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
