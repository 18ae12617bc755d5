// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/wide_kernel.hpp"

#include <algorithm>
#include <vector>

#include "d5/core/error.hpp"
#include "d5/core/tensor.hpp"
#include "level0_ops/kernels/conversion.hpp"

namespace d5::detail {
namespace {

using MakeKernel = std::function<std::unique_ptr<Kernel>(PlanContext&)>;

bool is_other_float(const ValueDesc& value, DType wide) {
  return value.is_tensor() && is_floating_point(value.tensor.dtype) && value.tensor.dtype != wide;
}

ValueDesc widened(ValueDesc value, DType wide) {
  if (is_other_float(value, wide)) value.tensor.dtype = wide;
  return value;
}

/// A value, and its wide copy.
struct WideValue {
  std::size_t place;
  Value value;
  Conversion conversion;
};

class WideningKernel final : public Kernel {
 public:
  WideningKernel(PlanContext& context, const MakeKernel& make) {
    const DType wide = wide_dtype(context);
    std::vector<ValueDesc> inputs, outputs;
    std::vector<const Value*> constants;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      const ValueDesc value = context.has_input(i) ? context.value(i) : ValueDesc();
      constants.push_back(context.constant_value(i));
      inputs.push_back(widened(value, wide));
      if (!is_other_float(value, wide)) continue;
      inputs_.push_back(
          {i, Value(Tensor::empty(inputs.back().tensor)), Conversion(value.tensor.dtype, wide)});
      constants.back() = nullptr;  // it is not of the type that is described
    }
    for (std::size_t k = 0; k < context.output_count(); ++k) {
      const ValueDesc value = context.output_value(k);
      outputs.push_back(widened(value, wide));
      if (!context.wants_output(k) || !is_other_float(value, wide)) continue;
      outputs_.push_back(
          {k, Value(Tensor::empty(outputs.back().tensor)), Conversion(wide, value.tensor.dtype)});
    }
    PlanContext own(context.op(), context.node(), inputs, constants, outputs,
                    {.mode = context.mode(), .device = context.device()});
    kernel_ = make(own);
    context.request_scratch(own.scratch_bytes());
    shown_inputs_.resize(context.input_count());
    shown_outputs_.resize(context.output_count());
  }

  void forward(OpContext& context) override {
    std::copy(context.inputs.begin(), context.inputs.end(), shown_inputs_.begin());
    std::copy(context.outputs.begin(), context.outputs.end(), shown_outputs_.begin());
    for (WideValue& input : inputs_) {
      const Tensor& from = context.input(input.place);
      input.conversion.run(input.value.tensor().raw(), from.raw(), from.elements());
      shown_inputs_[input.place] = &input.value;
    }
    for (WideValue& output : outputs_) shown_outputs_[output.place] = &output.value;
    OpContext own = context;
    own.inputs = shown_inputs_;
    own.outputs = shown_outputs_;
    kernel_->forward(own);
    for (const WideValue& output : outputs_) {
      Tensor& to = context.output(output.place);
      output.conversion.run(to.raw(), output.value.tensor().raw(), to.elements());
    }
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  std::vector<WideValue> inputs_, outputs_;
  std::vector<const Value*> shown_inputs_;  // to the kernel
  std::vector<Value*> shown_outputs_;
};

}  // namespace

DType wide_dtype(const PlanContext& context) {
  DType result = context.dtype(0);
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i) || !context.value(i).is_tensor()) continue;
    const DType dtype = context.dtype(i);
    if (dtype == DType::float64) return dtype;
    if (is_floating_point(dtype)) result = DType::float32;
  }
  return result;
}

bool is_wide(const PlanContext& context) {
  const DType wide = wide_dtype(context);
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has_input(i) && is_other_float(context.value(i), wide)) return false;
  }
  for (std::size_t k = 0; k < context.output_count(); ++k) {
    if (context.wants_output(k) && is_other_float(context.output_value(k), wide)) return false;
  }
  return true;
}

std::unique_ptr<Kernel> widening_kernel(PlanContext& context, const MakeKernel& make) {
  if (context.wants_backward()) {
    expect_type(RealTypes{}, context.dtype(0), context, "gradient");
    throw Unsupported(context.who() + ": there is no gradient where floats are of several types");
  }
  return std::make_unique<WideningKernel>(context, make);
}

}  // namespace d5::detail
