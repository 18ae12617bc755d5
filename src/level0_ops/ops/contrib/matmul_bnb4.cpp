// SPDX-License-Identifier: Apache-2.0
// com.microsoft's MatMulBnb4: a product with a matrix of bitsandbytes' 4-bit floats.
#include <fmt/format.h>

#include <array>
#include <span>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/expected_shape.hpp"
#include "level0_ops/operator/packed_elements.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::microsoft::MatMulBnb4;
using In = View::In;
using detail::Composition;
using detail::Term;

/// FP4: a sign, two exponent bits and one mantissa bit, scaled so that the largest number is 1.
constexpr std::array kFp4 = {
    0.0F, 5.208333333e-3F,  2.0F / 3,  1.0F,  1.0F / 3,  0.5F,  1.0F / 6,  0.25F,
    0.0F, -5.208333333e-3F, -2.0F / 3, -1.0F, -1.0F / 3, -0.5F, -1.0F / 6, -0.25F};
/// NF4: quantiles of the normal distribution, including zero.
/// Source: Dettmers et al., "QLoRA" (2023), appendix E.
constexpr std::array kNf4 = {-1.0F,
                             -0.6961928009986877F,
                             -0.5250730514526367F,
                             -0.39491748809814453F,
                             -0.28444138169288635F,
                             -0.18477343022823334F,
                             -0.09105003625154495F,
                             0.0F,
                             0.07958029955625534F,
                             0.16093020141124725F,
                             0.24611230194568634F,
                             0.33791524171829224F,
                             0.44070982933044434F,
                             0.5626170039176941F,
                             0.7229568362236023F,
                             1.0F};

/// Y = A B^T, where an element of B is an entry of the table times its block's largest magnitude.
///
/// Shapes: A is ... x K, Y is ... x N. B has N x K elements, row-major, two per byte, the first in
/// the high bits; absmax has one element per `block_size` of them.
class MatMulBnb4 final : public detail::ComposedOperator {
 public:
  explicit MatMulBnb4(const View& view)
      : k_(view.K()), n_(view.N()), block_size_(view.block_size()) {
    const std::string who = onnx::describe(view.node());
    const std::int64_t type = view.quant_type();
    if (type != 0 && type != 1) {
      throw ValueError(fmt::format("{}: quant_type is {}, expected 0 (FP4) or 1 (NF4)", who, type));
    }
    table_ = type == 0 ? kFp4 : kNf4;
    if (view.transB() != 1) {
      throw Unsupported(fmt::format("{}: transB is {}, expected 1: B row after row of an output",
                                    who, view.transB()));
    }
    if (k_ < 1 || n_ < 1 || block_size_ < 1) {
      throw ValueError(fmt::format("{}: K is {}, N {}, block_size {}, expected 1 or more", who, k_,
                                   n_, block_size_));
    }
  }

  [[nodiscard]] Places gradients() const override { return {In::A, In::absmax}; }

 protected:
  void compose(Composition& c) const override {
    const std::int64_t count = Shape{n_, k_}.elements();
    const std::int64_t blocks = (count + block_size_ - 1) / block_size_;
    const Shape& bytes = c.context().shape(In::B);
    if (bytes.elements() != (count + 1) / 2) {
      throw ShapeError(fmt::format("{}: B is {}, expected {} bytes for {} x {} elements",
                                   c.context().who(), to_string(bytes), (count + 1) / 2, n_, k_));
    }
    detail::expect_shape(c.context(), In::absmax, "absmax", {blocks});
    Term b = c.add("Reshape", {c.input(In::B), c.integers({-1})});
    b = detail::unpacked(c, b, 4, detail::FirstElement::high);
    b = c.add("Cast", {b}, {{"to", std::int64_t(DType::int32)}});
    b = fitted(c, b, blocks * block_size_);
    const Term absmax = c.input(In::absmax);
    const Term table = c.constant(Tensor::of<float>({16}, table_));
    const Term levels = c.add("CastLike", {table, absmax});
    b = c.add("Reshape", {c.add("Gather", {levels, b}), c.integers({blocks, block_size_})});
    b = c.add("Mul", {b, c.add("Unsqueeze", {absmax, c.integers({1})})});
    b = fitted(c, c.add("Reshape", {b, c.integers({-1})}), count);
    b = c.add("Reshape", {b, c.integers({n_, k_})});
    b = c.add("Transpose", {b}, {{"perm", std::vector<std::int64_t>{1, 0}}});
    c.output(0, c.add("MatMul", {c.input(In::A), b}));
  }

 private:
  /// The first `count` elements, padded with zeros.
  static Term fitted(Composition& c, Term x, std::int64_t count) {
    const std::int64_t size = c.shape(x).elements();
    if (size == count) return x;
    return c.add("Pad", {x, c.integers({0, count - size})});
  }

  std::int64_t k_, n_, block_size_;
  std::span<const float> table_;
};

}  // namespace

void register_matmul_bnb4(OperatorRegistry& registry) { registry.add<MatMulBnb4, View>(); }

}  // namespace d5::ops
