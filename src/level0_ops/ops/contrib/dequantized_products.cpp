// SPDX-License-Identifier: Apache-2.0
// Products of quantized matrices with float results, as written by ONNX Runtime's quantization and
// optimizer: com.microsoft's MatMulIntegerToFloat, DynamicQuantizeMatMul and QGemm.
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes::microsoft;
using detail::Composition;
using detail::Term;

/// Dequantizes `sums` of products to the scales' type.
Term scaled(Composition& c, Term sums, Term a_scale, Term b_scale) {
  const Term reals = c.add("Cast", {sums}, {{"to", std::int64_t(c.desc(b_scale).dtype)}});
  return c.add("Mul", {reals, c.add("Mul", {a_scale, b_scale})});
}

/// A per-row scale of A, broadcastable to Y.
Term of_rows(Composition& c, Term scale) {
  if (c.shape(scale).rank() != 1 || c.shape(scale).elements() == 1) return scale;
  return c.add("Unsqueeze", {scale, c.integers({1})});
}

/// y = (a - a_zero_point) (b - b_zero_point) a_scale b_scale + bias
///
/// Shapes: as MatMulInteger; scales as zero points; bias is a row of Y.
class MatMulIntegerToFloat final : public detail::ComposedOperator {
  using In = nodes::MatMulIntegerToFloat::In;

 protected:
  void compose(Composition& c) const override {
    const Term sums = c.add(
        "MatMulInteger",
        {c.input(In::A), c.input(In::B), c.input(In::a_zero_point), c.input(In::b_zero_point)});
    Term y = scaled(c, sums, of_rows(c, c.input(In::a_scale)), c.input(In::b_scale));
    if (const Term bias = c.input(In::bias)) y = c.add("Add", {y, bias});
    c.output(0, y);
  }
};

/// MatMulIntegerToFloat with A quantized first, by DynamicQuantizeLinear.
class DynamicQuantizeMatMul final : public detail::ComposedOperator {
  using In = nodes::DynamicQuantizeMatMul::In;

 protected:
  void compose(Composition& c) const override {
    const auto a = c.add(3, "DynamicQuantizeLinear", {c.input(In::A)});
    const Term sums =
        c.add("MatMulInteger", {a[0], c.input(In::B), a[2], c.input(In::b_zero_point)});
    Term y = scaled(c, sums, a[1], c.input(In::b_scale));
    if (const Term bias = c.input(In::bias)) y = c.add("Add", {y, bias});
    c.output(0, y);
  }
};

/// y = alpha a_scale b_scale ((a - a_zero_point) (b - b_zero_point) + c), quantized if y_scale is
/// given.
///
/// Shapes: as Gemm; B's parameters are one number or one per column of Y.
class QGemm final : public detail::ComposedOperator {
  using In = nodes::QGemm::In;

 public:
  explicit QGemm(const nodes::QGemm& view)
      : alpha_(view.alpha()), trans_a_(view.transA() != 0), trans_b_(view.transB() != 0) {}

 protected:
  void compose(Composition& c) const override {
    const Term a = matrix(c, In::A, trans_a_), b = matrix(c, In::B, trans_b_);
    Term sums =
        c.add("MatMulInteger", {a, b, c.input(In::a_zero_point), c.input(In::b_zero_point)});
    if (const Term bias = c.input(In::C)) sums = c.add("Add", {sums, bias});
    Term y = c.scaled(scaled(c, sums, c.input(In::a_scale), c.input(In::b_scale)), alpha_);
    if (const Term scale = c.input(In::y_scale)) {
      y = c.add("QuantizeLinear", {y, scale, c.input(In::y_zero_point)});
    }
    c.output(0, y);
  }

 private:
  static Term matrix(Composition& c, std::size_t i, bool transposed) {
    const Term x = c.input(i);
    if (!transposed) return x;
    return c.add("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  }

  float alpha_;
  bool trans_a_, trans_b_;
};

}  // namespace

void register_dequantized_products(OperatorRegistry& registry) {
  registry.add<MatMulIntegerToFloat, nodes::MatMulIntegerToFloat>();
  registry.add<DynamicQuantizeMatMul, nodes::DynamicQuantizeMatMul>();
  registry.add<QGemm, nodes::QGemm>();
}

}  // namespace d5::ops
