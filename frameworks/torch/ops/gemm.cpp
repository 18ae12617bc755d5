// SPDX-License-Identifier: Apache-2.0
// Y = alpha op(A) op(B) + beta C
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sum.h>

#include "d5/onnx/nodes.hpp"
#include "fused_kernel.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

using GemmView = onnx::nodes::Gemm;

/// y = factor * a b, without an addend.
void write_product(at::Tensor& y, const at::Tensor& a, const at::Tensor& b, double factor) {
  if (factor == 1) {
    at::mm_out(y, a, b);
  } else {
    at::addmm_out(y, y, a, b, /*beta=*/0, factor);
  }
}

/// The most recent transposed view, one per plan.
class Transposed {
 public:
  const at::Tensor& of(const at::Tensor& x) {
    if (!source_.is_same(x)) {
      source_ = x;
      view_ = x.t();
    }
    return view_;
  }

 private:
  at::Tensor source_, view_;
};

/// Shapes: op(A) MxK, op(B) KxN, C broadcasts to MxN.
class Gemm final : public TorchKernel {
 public:
  explicit Gemm(const PlanContext& context)
      : TorchKernel(context),
        alpha_(GemmView(node()).alpha()),
        beta_(GemmView(node()).beta()),
        trans_a_(GemmView(node()).transA() != 0),
        trans_b_(GemmView(node()).transB() != 0) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor a = trans_a_ ? inputs[GemmView::In::A].t() : inputs[GemmView::In::A];
    const at::Tensor b = trans_b_ ? inputs[GemmView::In::B].t() : inputs[GemmView::In::B];
    if (inputs.size() > GemmView::In::C && inputs[GemmView::In::C].defined()) {
      results[0] = at::addmm(inputs[GemmView::In::C], a, b, beta_, alpha_);
      return;
    }
    results[0] = at::mm(a, b);
    // Torch's product of integers and a real number is real.
    if (alpha_ != 1) results[0] = at::mul(results[0], alpha_).to(a.scalar_type());
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {GemmView::In::A, GemmView::In::B},
            .backward_reads_outputs = {}};
  }

 protected:
  void run(OpContext& context) override {
    const at::Tensor& a = a_of(context, trans_a_);
    const at::Tensor& b = b_of(context, trans_b_);
    at::Tensor& y = out(context, 0);
    if (context.has_input(GemmView::In::C)) {
      at::addmm_out(y, in(context, GemmView::In::C), a, b, beta_, alpha_);
    } else {
      write_product(y, a, b, alpha_);
    }
  }

  void differentiate(GradContext& context) override {
    const at::Tensor& dy = grad_out(context, 0);
    if (context.wants_grad(GemmView::In::A)) {
      at::Tensor& da = grad_in(context, GemmView::In::A);
      if (trans_a_) {
        write_product(da, b_of(context, trans_b_), dy_transposed_.of(dy), alpha_);
      } else {
        write_product(da, dy, b_of(context, !trans_b_), alpha_);
      }
    }
    if (context.wants_grad(GemmView::In::B)) {
      at::Tensor& db = grad_in(context, GemmView::In::B);
      if (trans_b_) {
        write_product(db, dy_transposed_.of(dy), a_of(context, trans_a_), alpha_);
      } else {
        write_product(db, a_of(context, !trans_a_), dy, alpha_);
      }
    }
    if (context.wants_grad(GemmView::In::C)) {
      at::Tensor& dc = grad_in(context, GemmView::In::C);
      if (dc.dim() == 1 && dc.size(0) == dy.size(1)) {
        at::sum_out(dc, dy, 0);
      } else {
        dc.copy_(dy.sum_to_size(dc.sizes()));
      }
      if (beta_ != 1) dc.mul_(beta_);
    }
  }

 private:
  template <class Context>
  const at::Tensor& a_of(const Context& context, bool transpose) {
    const at::Tensor& a = in(context, GemmView::In::A);
    return transpose ? a_transposed_.of(a) : a;
  }
  template <class Context>
  const at::Tensor& b_of(const Context& context, bool transpose) {
    const at::Tensor& b = in(context, GemmView::In::B);
    return transpose ? b_transposed_.of(b) : b;
  }

  double alpha_, beta_;
  bool trans_a_, trans_b_;
  Transposed a_transposed_, b_transposed_, dy_transposed_;
};

}  // namespace

void register_gemm(OperatorRegistry& registry) {
  add<Gemm, GemmView>(registry, computes);
  add_fused<Gemm>(registry, "FusedGemm");
}

}  // namespace d5::torch
