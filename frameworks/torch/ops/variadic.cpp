// SPDX-License-Identifier: Apache-2.0
// Sum, Mean, Max and Min of any number of tensors, with broadcasting.
#include <ATen/ops/add.h>
#include <ATen/ops/broadcast_tensors.h>
#include <ATen/ops/div.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/stack.h>

#include "d5/onnx/nodes.hpp"
#include "torch_binary.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

using Gradient = BinaryFunction::Gradient;
using Unsigned = BinaryFunction::Unsigned;

/// y = f(f(x0, x1), ...), divided by their number for Mean.
class Fold final : public TorchKernel {
 public:
  Fold(const PlanContext& context, BinaryFunction function, bool mean)
      : TorchKernel(context),
        function_(function),
        count_(context.input_count()),
        mean_(mean),
        stacks_(mean && count_ > 1 && is_small(scalar_type(context.dtype(0)))),
        in_result_(count_ == 1 ||
                   broadcast(context.shape(0), context.shape(1)) == context.output(0).shape),
        sums_(sums_of(context)) {
    in_result_ =
        in_result_ && !stacks_ && (count_ == 1 || function.takes(scalar_type(context.dtype(0))));
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    if (stacks_) {
      const at::TensorList all(inputs.data(), inputs.size());
      results[0] = at::mean(at::stack(at::broadcast_tensors(all)), 0);
      return;
    }
    // A single input is copied, because an output that is an input cannot be differentiated
    // separately.
    at::Tensor y = count_ == 1 ? inputs[0].clone() : function_(inputs[0], inputs[1]);
    for (std::size_t i = 2; i < count_; ++i) y = function_(y, inputs[i]);
    results[0] = mean_ ? at::div(y, double(count_)) : y;
  }
  KernelTraits traits() const override {
    if (function_.gradient != Gradient::sum) return TorchKernel::traits();
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 protected:
  void run(OpContext& context) override {
    if (!in_result_) return TorchKernel::run(context);
    at::Tensor& y = out(context, 0);
    if (count_ == 1) {
      y.copy_(in(context, 0));
    } else {
      function_.write(y, in(context, 0), in(context, 1));
    }
    for (std::size_t i = 2; i < count_; ++i) function_.write(y, y, in(context, i));
    if (mean_) y.div_(double(count_));
  }

  void differentiate(GradContext& context) override {
    if (function_.gradient != Gradient::sum) return TorchKernel::differentiate(context);
    const at::Tensor& dy = grad_out(context, 0);
    const at::Tensor share = mean_ ? at::div(dy, double(count_)) : dy;
    for (std::size_t i = 0; i < count_; ++i) {
      if (context.wants_grad(i)) sums_[i].write(grad_in(context, i), share);
    }
  }

 private:
  BinaryFunction function_;
  std::size_t count_;
  bool mean_;
  bool stacks_;     ///< small floats, whose sum overflows where their mean does not
  bool in_result_;  ///< the first two fill the result's shape: the rest is added there
  std::vector<Summed> sums_;

  static bool is_small(at::ScalarType type) { return at::toOpMathType(type) != type; }
};

/// A row of the table.
template <class View>
void add_fold(OperatorRegistry& registry, BinaryFunction function, bool mean = false) {
  add<Fold, View>(registry, stores, function, mean);
}

at::Tensor add2(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
at::Tensor& write_add(at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  return at::add_out(y, a, b);
}

}  // namespace

void register_variadic(OperatorRegistry& registry) {
  add_fold<nodes::Sum>(registry, {add2, write_add, Gradient::sum});
  add_fold<nodes::Mean>(registry, {add2, write_add, Gradient::sum}, /*mean=*/true);
  add_fold<nodes::Max>(registry, {D5_TORCH_BINARY(maximum), {}, Unsigned::order});
  add_fold<nodes::Min>(registry, {D5_TORCH_BINARY(minimum), {}, Unsigned::order});
}

}  // namespace d5::torch
