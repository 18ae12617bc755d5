// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

/// Shapes: as NumPy's matmul.
class MatMul final : public TorchKernel {
 public:
  using TorchKernel::TorchKernel;

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::matmul(inputs[0], inputs[1]);
  }

 protected:
  void run(OpContext& context) override {
    const at::Tensor &a = in(context, 0), &b = in(context, 1);
    // Torch adds a dimension to the result of a vector, and removes it elsewhere.
    if (a.dim() < 2 || b.dim() < 2) return TorchKernel::run(context);
    at::matmul_out(out(context, 0), a, b);
  }

  void differentiate(GradContext& context) override {
    const at::Tensor& a = in(context, 0);
    const at::Tensor& b = in(context, 1);
    if (a.dim() != 2 || b.dim() != 2) return TorchKernel::differentiate(context);
    const at::Tensor& dy = grad_out(context, 0);
    if (context.wants_grad(0)) at::mm_out(grad_in(context, 0), dy, b.t());
    if (context.wants_grad(1)) at::mm_out(grad_in(context, 1), a.t(), dy);
  }
};

}  // namespace

void register_matmul(OperatorRegistry& registry) {
  add<MatMul, onnx::nodes::MatMul>(registry, computes);
}

}  // namespace d5::torch
