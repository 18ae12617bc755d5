// SPDX-License-Identifier: Apache-2.0
// Products of stacks of matrices, as NumPy's matmul: A ...xMxK, B ...xKxN.
#include "d5/onnx/nodes.hpp"
#include "matrix_product.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using MatMulView = onnx::nodes::MatMul;

class MatMul final : public OneDnnKernel {
 public:
  explicit MatMul(PlanContext& context) : OneDnnKernel(context) {
    const ProductDescs descs(context.input(0), context.input(1), context.output(0));
    const Argument a = input(0).as(descs.a), b = input(1).as(descs.b);
    const Desc& y = descs.y;
    // A single matrix is usually a parameter, reordered once.
    const bool is_matrix = context.shape(1).rank() == 2;
    const Desc weights = is_matrix ? preferred_weights(a.desc, b.desc, y) : b.desc;
    add_product(forward_, a, input_in(1, b.desc, weights), output(0).as(y));
    const Argument dy = grad_output(0).as(y);
    if (context.wants_grad(0)) {
      add_product(backward_, dy, turned(b), grad_input(0).as(a.desc));
    }
    if (context.wants_grad(1)) {
      add_product(backward_, turned(a), dy, grad_input(1).as(b.desc));
    }
  }
};

}  // namespace

void register_matmul(OperatorRegistry& registry) { add<MatMul, MatMulView>(registry, floats); }

}  // namespace d5::onednn
