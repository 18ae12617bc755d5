// SPDX-License-Identifier: Apache-2.0
// com.microsoft's FusedMatMul: a scaled product of optionally transposed matrices.
#include <algorithm>
#include <numeric>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using FusedMatMulView = onnx::nodes::microsoft::FusedMatMul;
using detail::Composition;
using detail::Term;

/// Layout of a factor.
struct Factor {
  bool transposed;       ///< its last two dimensions are swapped
  bool rows_come_first;  ///< its rows are the first dimension, before the stack's

  /// `x` in MatMul's layout. Vectors are unchanged.
  [[nodiscard]] Term as_matrix(Composition& c, Term x) const {
    const std::size_t rank = c.shape(x).rank();
    if (rank < 2 || (!transposed && !rows_come_first)) return x;
    std::vector<std::int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (rows_come_first) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
    if (transposed) std::swap(order[rank - 2], order[rank - 1]);
    return c.add("Transpose", {x}, {{"perm", order}});
  }
};

/// y = alpha a b. Shapes: as MatMul, of A and B after transposition.
class FusedMatMul final : public detail::ComposedOperator {
 public:
  explicit FusedMatMul(const FusedMatMulView& view)
      : a_{view.transA() != 0, view.transBatchA() != 0},
        b_{view.transB() != 0, view.transBatchB() != 0},
        alpha_(view.alpha()) {}
  Places gradients() const override { return {FusedMatMulView::In::A, FusedMatMulView::In::B}; }

 protected:
  void compose(Composition& c) const override {
    const Term a = a_.as_matrix(c, c.input(FusedMatMulView::In::A));
    const Term b = b_.as_matrix(c, c.input(FusedMatMulView::In::B));
    c.output(0, c.scaled(c.add("MatMul", {a, b}), alpha_));
  }

 private:
  Factor a_, b_;
  float alpha_;
};

}  // namespace

void register_fused_matmul(OperatorRegistry& registry) {
  registry.add<FusedMatMul, FusedMatMulView>();
}

}  // namespace d5::ops
