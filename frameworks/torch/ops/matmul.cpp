// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>

#include "torch_operator.hpp"

namespace d5::torch {
namespace {

/// Shapes: as NumPy's matmul.
class MatMul final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    return {at::matmul(inputs[0], inputs[1])};
  }

 protected:
  void run(OpContext& context) override {
    at::matmul_out(out(context, 0), in(context, 0), in(context, 1));
  }

  void differentiate(GradContext& context) override {
    const at::Tensor& a = in(context, 0);
    const at::Tensor& b = in(context, 1);
    if (a.dim() != 2 || b.dim() != 2) return TorchOperator::differentiate(context);
    const at::Tensor& dy = grad_out(context, 0);
    if (context.wants_grad(0)) at::mm_out(grad_in(context, 0), dy, b.t());
    if (context.wants_grad(1)) at::mm_out(grad_in(context, 1), a.t(), dy);
  }
};

}  // namespace

void register_matmul(OperatorRegistry& registry) { add<MatMul>(registry, "MatMul"); }

}  // namespace d5::torch
