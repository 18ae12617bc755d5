// SPDX-License-Identifier: Apache-2.0
// Y = alpha op(A) op(B) + beta C
#include "d5/onnx/nodes.hpp"
#include "matrix_product.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using View = onnx::nodes::Gemm;

/// Shapes: op(A) MxK, op(B) KxN, C broadcasts to MxN.
class Gemm final : public OneDnnKernel {
 public:
  explicit Gemm(PlanContext& context) : OneDnnKernel(context) {
    const View view(context.node());
    const auto alpha = float(view.alpha()), beta = float(view.beta());
    const bool turns_a = view.transA() != 0, turns_b = view.transB() != 0;
    const Argument a = turns_a ? turned(input(View::In::A)) : input(View::In::A);
    const Argument b = turns_b ? turned(input(View::In::B)) : input(View::In::B);
    const bool adds = context.has_input(View::In::C) && beta != 0;
    dnnl::post_ops post_ops;
    std::vector<Pass::Bound> extras;
    // alpha / beta first and beta last, so that C needs no scaled copy.
    const float before = adds ? alpha / beta : alpha;
    if (before != 1) post_ops.append_eltwise(dnnl::algorithm::eltwise_linear, before, 0);
    if (adds) {
      const Argument c = addend();
      extras.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(post_ops.len()) | DNNL_ARG_SRC_1, c});
      post_ops.append_binary(dnnl::algorithm::binary_add, c.desc);
      if (beta != 1) post_ops.append_eltwise(dnnl::algorithm::eltwise_linear, beta, 0);
    }
    add_product(forward_, a, b, output(0), post_ops, extras);
    traits_.backward_reads_inputs = {View::In::A, View::In::B};
    if (context.wants_grad(View::In::A)) {
      const Argument da = grad_input(View::In::A);
      add_product(backward_, grad_output(0), turned(b), turns_a ? turned(da) : da, scaled(alpha));
    }
    if (context.wants_grad(View::In::B)) {
      const Argument db = grad_input(View::In::B);
      add_product(backward_, turned(a), grad_output(0), turns_b ? turned(db) : db, scaled(alpha));
    }
    if (context.wants_grad(View::In::C)) {
      add_sum_to(backward_, grad_output(0),
                 grad_input(View::In::C).as(padded_rows(context.input(View::In::C), 2)), beta);
    }
  }

 private:
  [[nodiscard]] Argument addend() const {
    return input(View::In::C).as(padded_rows(context().input(View::In::C), 2));
  }
  static dnnl::post_ops scaled(float factor) {
    dnnl::post_ops result;
    if (factor != 1) result.append_eltwise(dnnl::algorithm::eltwise_linear, factor, 0);
    return result;
  }
};

}  // namespace

void register_gemm(OperatorRegistry& registry) { add<Gemm, View>(registry, floats); }

}  // namespace d5::onednn
