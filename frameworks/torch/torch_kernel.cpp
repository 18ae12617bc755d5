// SPDX-License-Identifier: Apache-2.0
#include "torch_kernel.hpp"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "call_spans.hpp"
#include "d5/core/errors/error.hpp"
#include "torch_quantization.hpp"

namespace d5::torch {
namespace {

/// Reason why a value is unsupported; empty if it is supported, missing or not known yet.
std::string obstacle(const ValueDesc& desc) {
  if (desc.kind == ValueKind::none) return {};
  if (!desc.is_tensor()) return to_string(desc) + "; it takes tensors only";
  if (!has_scalar_type(desc.tensor.dtype)) {
    return "element type " + std::string(name_of(desc.tensor.dtype));
  }
  return {};
}

bool is_converted_only(const ValueDesc& desc) {
  return desc.is_tensor() && is_float8(scalar_type(desc.tensor.dtype));
}

bool is_stored_only(const ValueDesc& desc) {
  if (!desc.is_tensor()) return false;
  const DType dtype = desc.tensor.dtype;
  return dtype == DType::uint16 || dtype == DType::uint32 || dtype == DType::uint64;
}

/// Calls `f` for all inputs and outputs of the node.
template <class F>
void for_each_value(const PlanContext& context, F&& f) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has_input(i)) f(context.value(i));
  }
  for (std::size_t i = 0; i < context.output_count(); ++i) f(context.output_value(i));
}

/// False if torch does not support one of the node's values.
Support without(Support result, bool (*lacks)(const ValueDesc&), const PlanContext& context) {
  for_each_value(context, [&](const ValueDesc& desc) {
    if (result && lacks(desc)) {
      result.reason = context.node().op_type + " on " + std::string(name_of(desc.tensor.dtype));
    }
  });
  return result;
}

}  // namespace

Support converts(const PlanContext& context) {
  Support result;
  for_each_value(context, [&](const ValueDesc& desc) {
    if (result) result.reason = obstacle(desc);
  });
  return result;
}

Support stores(const PlanContext& context) {
  return without(converts(context), is_converted_only, context);
}

Support computes(const PlanContext& context) {
  return without(stores(context), is_stored_only, context);
}

Support computes_some(const PlanContext& context) {
  Support result = computes(context);
  for_each_value(context, [&](const ValueDesc& desc) {
    if (result && desc.is_static() && desc.tensor.elements() == 0) {
      result.reason = context.node().op_type + " on no elements";
    }
  });
  return result;
}

void rethrow(const std::string& who) {
  const auto says = [&](const char* what) { return who + ": torch says: " + what; };
  try {
    throw;
  } catch (const MemoryError& error) {  // thrown by `OfferingAllocator`
    throw MemoryError(says(error.what()));
  } catch (const Error&) {
    throw;
  } catch (const c10::NotImplementedError& error) {
    throw Unsupported(says(error.what_without_backtrace()));
  } catch (const c10::Error& error) {
    throw ValueError(says(error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    throw MemoryError(says("there is not enough memory"));
  } catch (const std::exception& error) {  // thrown by libraries that torch calls
    throw ValueError(says(error.what()));
  }
}

TorchKernel::TorchKernel(const PlanContext& context)
    : node_(context.node()),
      device_(torch_device(context.device())),
      inputs_(context.input_count()),
      outputs_(context.output_count()),
      saved_(kMostSaved),
      grad_outputs_(context.output_count()),
      grad_inputs_(context.input_count()),
      planned_(context.output_count()),
      arguments_(context.input_count()),
      results_(context.output_count()),
      turns_(context.output_count()) {
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    planned_[i] = context.wants_output(i) && context.output_value(i).is_static();
  }
  if (!context.wants_backward()) return;
  tape_.leaves.resize(context.input_count());
  tape_.grad_outputs.resize(context.output_count());
  tape_.wanted.reserve(context.input_count());
  tape_.places.reserve(context.input_count());
  tape_.outputs.reserve(context.output_count());
  tape_.output_gradients.reserve(context.output_count());
}

void TorchKernel::forward(OpContext& context) {
  CallSpans::follow_trace();
  // InferenceMode has the same effect, but entering and leaving it takes longer than a small
  // function.
  const at::AutoDispatchBelowADInplaceOrView without_autograd;
  const OnStream on(context.stream());
  try {
    run(context);
  } catch (...) {
    rethrow(context.who());
  }
}

void TorchKernel::backward(GradContext& context) {
  CallSpans::follow_trace();
  const c10::InferenceMode without_autograd;
  const OnStream on(context.stream());
  try {
    differentiate(context);
  } catch (...) {
    rethrow(context.who());
  }
}

Inputs TorchKernel::arguments(const OpContext& context) {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (context.has_input(i)) arguments_[i] = in(context, i);
  }
  return arguments_;
}

void TorchKernel::run(OpContext& context) {
  ResultMemory memory;
  const std::size_t offered = std::min<std::size_t>(results_.size(), ResultMemory::kMost);
  for (std::size_t i = 0; i < offered; ++i) {
    memory.offer(planned_[i] ? out(context, i) : at::Tensor(), &turns_[i]);
  }
  call(arguments(context), results_, {});
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (planned_[i] && results_[i].sizes() != out(context, i).sizes()) {
      throw ContractError(context.who() + ": torch computes a shape that differs from infer's");
    }
  }
  memory.deliver(results_);
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (context.wants_output(i) && (!planned_[i] || i >= offered)) put(context, i);
    results_[i].reset();
  }
}

/// Copies a result for which no memory was offered.
void TorchKernel::put(OpContext& context, std::size_t i) {
  const at::Tensor& result = results_[i];
  if (planned_[i]) {
    out(context, i).copy_(result);
    return;
  }
  const Shape shape(std::span<const std::int64_t>(result.sizes().data(), result.sizes().size()));
  wrap(context.allocate(i, {dtype_of_scalar(result.scalar_type()), shape})).copy_(result);
}

void TorchKernel::differentiate(GradContext& context) {
  record(context);
  for (std::size_t k = 0; k < tape_.places.size(); ++k) {
    at::Tensor& target = grad_in(context, tape_.places[k]);
    if (k < tape_.gradients.size() && tape_.gradients[k].defined()) {
      target.copy_(tape_.gradients[k]);
    } else {
      target.zero_();
    }
  }
  tape_.gradients.clear();
  tape_.outputs.clear();  // and with them torch's graph
}

/// Runs `call` under autograd, and its backward pass.
void TorchKernel::record(GradContext& context) {
  const c10::InferenceMode recording(false);
  const at::AutoGradMode grad_mode(true);
  tape_.wanted.clear();
  tape_.places.clear();
  tape_.outputs.clear();
  tape_.output_gradients.clear();
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!context.has_input(i)) continue;
    arguments_[i] = tape_.leaves[i].of(context.input(i));
    if (!context.wants_grad(i)) continue;
    tape_.wanted.push_back(arguments_[i].requires_grad_(true));
    tape_.places.push_back(i);
  }
  call(arguments_, results_, {});
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (context.has_grad_output(i) && results_[i].requires_grad()) {
      tape_.outputs.push_back(results_[i]);
      tape_.output_gradients.push_back(tape_.grad_outputs[i].of(context.grad_output(i)));
    }
    results_[i].reset();
  }
  if (tape_.outputs.empty()) return;
  tape_.gradients = ::torch::autograd::grad(tape_.outputs, tape_.wanted, tape_.output_gradients,
                                            /*retain_graph=*/false, /*create_graph=*/false,
                                            /*allow_unused=*/true);
}

}  // namespace d5::torch
