// SPDX-License-Identifier: Apache-2.0
// Y = alpha op(A) op(B) + beta C
#include "d5/onnx/nodes.hpp"
#include "fused_activation.hpp"
#include "matrix_product.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using GemmView = onnx::nodes::Gemm;
using GemmIn = GemmView::In;

/// Shapes: op(A) MxK, op(B) KxN, C broadcasts to MxN.
class Gemm final : public OneDnnKernel {
 public:
  explicit Gemm(PlanContext& context)
      : OneDnnKernel(context),
        activation_(context),
        alpha_(GemmView(context.node()).alpha()),
        beta_(GemmView(context.node()).beta()),
        a_(GemmView(context.node()).transA() != 0 ? turned(input(GemmIn::A)) : input(GemmIn::A)),
        b_(GemmView(context.node()).transB() != 0 ? turned(input(GemmIn::B)) : input(GemmIn::B)) {
    add_forward();
    traits_ = {.backward_reads_inputs = {GemmIn::A, GemmIn::B},
               .backward_reads_outputs = activation_.reads()};
    if (!context.wants_backward()) return;
    const Argument dy = activation_.differentiate(backward_, output(0), grad_output(0));
    // Always row-major: for a transposed result oneDNN has only plain loops.
    if (context.wants_grad(GemmIn::A)) {
      const bool is_turned = GemmView(context.node()).transA() != 0;
      add_product(backward_, is_turned ? b_ : dy, is_turned ? turned(dy) : turned(b_),
                  grad_input(GemmIn::A), scaled(alpha_));
    }
    if (context.wants_grad(GemmIn::B)) {
      const bool is_turned = GemmView(context.node()).transB() != 0;
      add_product(backward_, is_turned ? turned(dy) : turned(a_), is_turned ? a_ : dy,
                  grad_input(GemmIn::B), scaled(alpha_));
    }
    if (context.wants_grad(GemmIn::C)) {
      add_sum_to(backward_, dy, grad_input(GemmIn::C).as(padded_rows(context.input(GemmIn::C), 2)),
                 beta_);
    }
  }

 private:
  /// Scales by alpha / beta first, and by beta after C, so that C needs no scaled copy.
  void add_forward() {
    const bool adds = context().has_input(GemmIn::C) && beta_ != 0;
    dnnl::post_ops behind = scaled(adds ? alpha_ / beta_ : alpha_);
    std::vector<Pass::Bound> extras;
    if (adds) {
      const Argument c = input(GemmIn::C).as(padded_rows(context().input(GemmIn::C), 2));
      extras.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(behind.len()) | DNNL_ARG_SRC_1, c});
      behind.append_binary(dnnl::algorithm::binary_add, c.desc);
      if (beta_ != 1) behind.append_eltwise(dnnl::algorithm::eltwise_linear, beta_, 0);
    }
    activation_.append_to(behind);
    const Desc weights = preferred_weights(a_.desc, b_.desc, output(0).desc, behind);
    add_product(forward_, a_, input_in(GemmIn::B, b_.desc, weights), output(0), behind, extras);
  }

  static dnnl::post_ops scaled(float factor) {
    dnnl::post_ops result;
    if (factor != 1) result.append_eltwise(dnnl::algorithm::eltwise_linear, factor, 0);
    return result;
  }

  FusedActivation activation_;
  float alpha_, beta_;
  Argument a_, b_;  ///< op(A), op(B)
};

}  // namespace

void register_gemm(OperatorRegistry& registry) {
  add<Gemm, GemmView>(registry, floats);
  add<Gemm>(registry, "FusedGemm", {.domain = "com.microsoft"}, floats);
}

}  // namespace d5::onednn
