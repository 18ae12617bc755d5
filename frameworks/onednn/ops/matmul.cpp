// SPDX-License-Identifier: Apache-2.0
// Products of stacks of matrices, as NumPy's matmul: A ...xMxK, B ...xKxN.
#include <algorithm>

#include "d5/onnx/nodes.hpp"
#include "matrix_product.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using View = onnx::nodes::MatMul;

/// A vector as a matrix of one row or one column, and ones in front up to `rank`.
Desc as_matrices(const TensorDesc& desc, std::size_t rank, bool is_left) {
  Dims dims = dims_of(desc.shape);
  if (dims.size() == 1) dims.insert(is_left ? dims.begin() : dims.end(), 1);
  dims.insert(dims.begin(), rank - dims.size(), 1);
  return rows(dims, data_type(desc.dtype));
}

class MatMul final : public OneDnnKernel {
 public:
  explicit MatMul(PlanContext& context) : OneDnnKernel(context) {
    const std::size_t rank =
        std::max({context.shape(0).rank(), context.shape(1).rank(), std::size_t{2}});
    const Argument a = input(0).as(as_matrices(context.input(0), rank, true));
    const Argument b = input(1).as(as_matrices(context.input(1), rank, false));
    Dims dims;
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      dims.push_back(std::max(a.desc.get_dims()[i], b.desc.get_dims()[i]));
    }
    dims.insert(dims.end(), {a.desc.get_dims()[rank - 2], b.desc.get_dims()[rank - 1]});
    const Desc y = rows(dims, data_type(context.output(0).dtype));
    // A single matrix is mostly a parameter, reordered once.
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

void register_matmul(OperatorRegistry& registry) { add<MatMul, View>(registry, floats); }

}  // namespace d5::onednn
