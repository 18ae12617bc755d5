// SPDX-License-Identifier: Apache-2.0
// Y = alpha op(A) op(B) + beta C
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sum.h>

#include "d5/onnx/nodes.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

using View = onnx::nodes::Gemm;

/// y = factor * a b, without an addend.
void write_product(at::Tensor& y, const at::Tensor& a, const at::Tensor& b, double factor) {
  if (factor == 1) {
    at::mm_out(y, a, b);
  } else {
    at::addmm_out(y, y, a, b, /*beta=*/0, factor);
  }
}

/// Shapes: op(A) MxK, op(B) KxN, C broadcasts to MxN.
class Gemm final : public TorchOperator {
 public:
  explicit Gemm(const onnx::Node& node)
      : TorchOperator(node),
        alpha_(View(this->node()).alpha()),
        beta_(View(this->node()).beta()),
        trans_a_(View(this->node()).transA() != 0),
        trans_b_(View(this->node()).transB() != 0) {}

  Results call(Inputs inputs, const Call&) const override {
    const at::Tensor a = trans_a_ ? inputs[View::In::A].t() : inputs[View::In::A];
    const at::Tensor b = trans_b_ ? inputs[View::In::B].t() : inputs[View::In::B];
    if (inputs.size() > View::In::C && inputs[View::In::C].defined()) {
      return {at::addmm(inputs[View::In::C], a, b, beta_, alpha_)};
    }
    const at::Tensor y = at::mm(a, b);
    return {alpha_ == 1 ? y : at::mul(y, alpha_)};
  }

  bool backward_needs_input(std::size_t i) const override { return i != View::In::C; }

 protected:
  void run(OpContext& context) override {
    const at::Tensor& a = a_.of(in(context, View::In::A), trans_a_);
    const at::Tensor& b = b_.of(in(context, View::In::B), trans_b_);
    at::Tensor& y = out(context, 0);
    if (context.has_input(View::In::C)) {
      at::addmm_out(y, in(context, View::In::C), a, b, beta_, alpha_);
    } else {
      write_product(y, a, b, alpha_);
    }
  }

  void differentiate(GradContext& context) override {
    const at::Tensor& dy = grad_out(context, 0);
    if (context.wants_grad(View::In::A)) {
      const at::Tensor& b = b_.of(in(context, View::In::B), trans_b_);
      at::Tensor& da = grad_in(context, View::In::A);
      if (trans_a_) {
        write_product(da, b, dy.t(), alpha_);
      } else {
        write_product(da, dy, b.t(), alpha_);
      }
    }
    if (context.wants_grad(View::In::B)) {
      const at::Tensor& a = a_.of(in(context, View::In::A), trans_a_);
      at::Tensor& db = grad_in(context, View::In::B);
      if (trans_b_) {
        write_product(db, dy.t(), a, alpha_);
      } else {
        write_product(db, a.t(), dy, alpha_);
      }
    }
    if (context.wants_grad(View::In::C)) {
      at::Tensor& dc = grad_in(context, View::In::C);
      if (dc.dim() == 1 && dc.size(0) == dy.size(1)) {
        at::sum_out(dc, dy, 0);
      } else {
        dc.copy_(dy.sum_to_size(dc.sizes()));
      }
      if (beta_ != 1) dc.mul_(beta_);
    }
  }

 private:
  /// The last transposed view that was made: one a plan.
  class Transposed {
   public:
    const at::Tensor& of(const at::Tensor& x, bool transpose) {
      if (!transpose) return x;
      if (!source_.is_same(x)) {
        source_ = x;
        view_ = x.t();
      }
      return view_;
    }

   private:
    at::Tensor source_, view_;
  };

  double alpha_, beta_;
  bool trans_a_, trans_b_;
  Transposed a_, b_;
};

/// Before opset 7, C was broadcast by an attribute.
Support broadcasts_by_shape(const onnx::Node& node) {
  return {node.opset >= 7 ? "" : "Gemm with the broadcast attribute (opset < 7)"};
}

}  // namespace

void register_gemm(OperatorRegistry& registry) { add<Gemm>(registry, "Gemm", broadcasts_by_shape); }

}  // namespace d5::torch
