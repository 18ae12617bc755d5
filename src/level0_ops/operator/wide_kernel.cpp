// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/wide_kernel.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/arena.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::detail {
namespace {

bool is_other_float(const ValueDesc& value, DType wide) {
  return value.is_tensor() && is_floating_point(value.tensor.dtype) && value.tensor.dtype != wide;
}

ValueDesc widened(ValueDesc value, DType wide) {
  if (is_other_float(value, wide)) value.tensor.dtype = wide;
  return value;
}

struct WideCopy {
  std::size_t place, offset;
  TensorDesc desc;  ///< wide
  DType narrow;
  Conversion widening, rounding;
  Value value = {};
};

void widen(WideCopy& copy, const Tensor& from) {
  if (!copy.desc.shape.is_static()) copy.value = Tensor::empty(copy.desc.dtype, from.shape());
  copy.widening.run(copy.value.tensor().raw(), from.raw(), from.elements());
}
void round(const WideCopy& copy, Tensor& to) {
  copy.rounding.run(to.raw(), copy.value.tensor().raw(), to.elements());
}

/// Wide copies of a pass's values, contiguous at the begin of its scratch memory; values whose
/// shape is known only at run time have memory of their own.
class WideCopies {
 public:
  void add(std::deque<WideCopy>& copies, std::size_t place, TensorDesc desc, DType wide) {
    const DType narrow = std::exchange(desc.dtype, wide);
    copies.emplace_back(place, bytes_, desc, narrow, Conversion(narrow, wide),
                        Conversion(wide, narrow));
    if (desc.shape.is_static()) bytes_ += Arena::aligned(desc.bytes());
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Does nothing if the memory has not moved since the previous run.
  void lie_in(std::byte* memory) {
    if (std::exchange(memory_, memory) == memory) return;
    for (auto* copies : {&inputs, &outputs, &grad_outputs, &grad_inputs}) {
      for (WideCopy& copy : *copies) {
        if (copy.desc.shape.is_static()) {
          copy.value = Tensor::borrow(copy.desc, memory + copy.offset);
        }
      }
    }
  }

  std::deque<WideCopy> inputs, outputs, grad_outputs, grad_inputs;

 private:
  std::size_t bytes_ = 0;
  std::optional<std::byte*> memory_;  ///< memory of the previous run; null if all copies are empty
};

class WideningKernel final : public Kernel {
 public:
  WideningKernel(PlanContext& context, const PlanKernel& make) {
    const DType wide = wide_dtype(context);
    std::vector<ValueDesc> inputs, outputs;
    std::vector<const Value*> constants;
    PlanTarget target{.mode = context.mode(), .device = context.device()};
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      const ValueDesc value = context.has_input(i) ? context.value(i) : ValueDesc();
      const bool other = is_other_float(value, wide);
      inputs.push_back(widened(value, wide));
      // A constant would not have the described type.
      constants.push_back(other ? nullptr : context.constant_value(i));
      if (context.wants_grad(i)) target.grad_inputs.add(i);
      if (other) add_input(i, value.tensor, wide, context.wants_grad(i));
    }
    for (std::size_t k = 0; k < context.output_count(); ++k) {
      const ValueDesc value = context.output_value(k);
      outputs.push_back(widened(value, wide));
      if (context.wants_output(k) && is_other_float(value, wide)) add_output(k, value.tensor, wide);
    }
    PlanContext own(context.op(), context.node(), inputs, constants, outputs, target);
    own.request_scratch(context.scratch_bytes());  // on behalf of the wide kernel
    kernel_ = make(own);
    for (const TensorDesc& desc : own.saved()) context.save(desc);
    own_scratch_ = std::max(forward_.bytes(), context.wants_backward() ? backward_.bytes() : 0);
    context.request_scratch(own_scratch_ + own.scratch_bytes());
    inputs_.resize(context.input_count());
    outputs_.resize(context.output_count());
    values_.resize(context.output_count());
    grad_outputs_.resize(context.output_count());
    grad_inputs_.resize(context.input_count());
  }

  void forward(OpContext& context) override {
    forward_.lie_in(context.scratch().data());
    std::ranges::copy(context.inputs, inputs_.begin());
    std::ranges::copy(context.outputs, outputs_.begin());
    show(forward_.inputs, inputs_);
    for (auto& copy : forward_.outputs) outputs_[copy.place] = &copy.value;
    OpContext own = context;
    own.inputs = inputs_;
    own.outputs = outputs_;
    own.scratch_bytes = context.scratch().subspan(own_scratch_);
    kernel_->forward(own);
    for (const auto& copy : forward_.outputs) round(copy, output_of(context, copy));
  }

  void backward(GradContext& context) override {
    backward_.lie_in(context.scratch().data());
    std::ranges::copy(context.inputs, inputs_.begin());
    std::ranges::copy(context.outputs, values_.begin());
    std::ranges::copy(context.grad_outputs, grad_outputs_.begin());
    std::ranges::copy(context.grad_inputs, grad_inputs_.begin());
    show(backward_.inputs, inputs_);
    show(backward_.outputs, values_);
    for (auto& copy : backward_.grad_outputs) {
      const Tensor*& shown = grad_outputs_[copy.place];
      if (shown) widen(copy, *shown), shown = &copy.value.tensor();
    }
    for (auto& copy : backward_.grad_inputs) {
      if (context.wants_grad(copy.place)) grad_inputs_[copy.place] = &copy.value.tensor();
    }
    GradContext own = context;
    own.inputs = inputs_;
    own.outputs = values_;
    own.grad_outputs = grad_outputs_;
    own.grad_inputs = grad_inputs_;
    own.scratch_bytes = context.scratch().subspan(own_scratch_);
    kernel_->backward(own);
    for (const auto& copy : backward_.grad_inputs) {
      if (context.wants_grad(copy.place)) round(copy, context.grad_input(copy.place));
    }
  }

  KernelTraits traits() const override { return kernel_->traits(); }

 private:
  void add_input(std::size_t i, const TensorDesc& input, DType wide, bool wants_grad) {
    forward_.add(forward_.inputs, i, input, wide);
    backward_.add(backward_.inputs, i, input, wide);
    if (wants_grad) backward_.add(backward_.grad_inputs, i, input, wide);
  }
  void add_output(std::size_t k, const TensorDesc& output, DType wide) {
    forward_.add(forward_.outputs, k, output, wide);
    backward_.add(backward_.outputs, k, output, wide);
    backward_.add(backward_.grad_outputs, k, output, wide);
  }

  /// Allocates an output whose shape was unknown before running.
  static Tensor& output_of(OpContext& context, const WideCopy& copy) {
    if (copy.desc.shape.is_static()) return context.output(copy.place);
    TensorDesc desc = copy.value.tensor().desc();
    desc.dtype = copy.narrow;
    return context.allocate(copy.place, desc);
  }

  /// Replaces present values by their wide copies.
  static void show(std::deque<WideCopy>& copies, std::vector<const Value*>& shown) {
    for (auto& copy : copies) {
      const Value*& value = shown[copy.place];
      if (value) widen(copy, value->tensor()), value = &copy.value;
    }
  }

  std::unique_ptr<Kernel> kernel_;
  WideCopies forward_, backward_;
  std::size_t own_scratch_ = 0;  ///< bytes before the wide kernel's scratch
  // The wide kernel's view of its values.
  std::vector<const Value*> inputs_, values_;
  std::vector<Value*> outputs_;
  std::vector<const Tensor*> grad_outputs_;
  std::vector<Tensor*> grad_inputs_;
};

bool has_shorter_float(const PlanContext& context) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i) || !context.value(i).is_tensor()) continue;
    const DType dtype = context.dtype(i);
    if (is_floating_point(dtype) && size_of(dtype) < size_of(DType::float32)) return true;
  }
  return false;
}

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

std::unique_ptr<Kernel> widening_kernel(PlanContext& context, const PlanKernel& make) {
  return std::make_unique<WideningKernel>(context, make);
}

std::unique_ptr<Kernel> plan_with_gradient(PlanContext& context, const PlanKernel& make) {
  if (!context.wants_backward() || !has_shorter_float(context)) return make(context);
  try {
    PlanContext trial = context;
    (void)make(trial);
  } catch (const Unsupported&) {
    return widening_kernel(context, make);
  }
  return make(context);
}

}  // namespace d5::detail
