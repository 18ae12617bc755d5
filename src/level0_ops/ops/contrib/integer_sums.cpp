// SPDX-License-Identifier: Apache-2.0
// com.microsoft's MulInteger, ReduceSumInteger and MatMulInteger16: 32-bit products and sums of
// short integers.
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using detail::Composition;
using detail::Term;
namespace nodes = onnx::nodes::microsoft;

Term as(Composition& c, Term x, DType type) {
  return c.add("Cast", {x}, {{"to", std::int64_t(type)}});
}

/// C = (A - A's zero point) (B - B's)
class MulInteger final : public detail::ComposedOperator {
 public:
  using View = nodes::MulInteger;

 protected:
  void compose(Composition& c) const override {
    c.output(0, c.add("Mul", {shifted(c, View::In::A), shifted(c, View::In::B)}));
  }

 private:
  /// Input `i` minus its zero point, which is the next input.
  static Term shifted(Composition& c, std::size_t i) {
    const Term x = as(c, c.input(i), DType::int32), zero = c.input(i + 1);
    return zero ? c.add("Sub", {x, as(c, zero, DType::int32)}) : x;
  }
};

class ReduceSumInteger final : public detail::ComposedOperator {
 public:
  using View = nodes::ReduceSumInteger;
  explicit ReduceSumInteger(const View& view) : axes_(view.axes()), keepdims_(view.keepdims()) {}

 protected:
  void compose(Composition& c) const override {
    const DType type =
        c.context().dtype(View::In::data) == DType::uint8 ? DType::uint32 : DType::int32;
    c.output(0, c.add("ReduceSum", {as(c, c.input(View::In::data), type), c.integers(axes_)},
                      {{"keepdims", keepdims_}}));
  }

 private:
  std::vector<std::int64_t> axes_;
  std::int64_t keepdims_;
};

/// Y = A B, unsigned if both are.
class MatMulInteger16 final : public detail::ComposedOperator {
 public:
  using View = nodes::MatMulInteger16;

 protected:
  void compose(Composition& c) const override {
    const bool is_unsigned = c.context().dtype(View::In::A) == DType::uint16 &&
                             c.context().dtype(View::In::B) == DType::uint16;
    const DType type = is_unsigned ? DType::uint32 : DType::int32;
    c.output(
        0, c.add("MatMul", {as(c, c.input(View::In::A), type), as(c, c.input(View::In::B), type)}));
  }
};

}  // namespace

void register_integer_sums(OperatorRegistry& registry) {
  registry.add<MulInteger, MulInteger::View>();
  registry.add<ReduceSumInteger, ReduceSumInteger::View>();
  registry.add<MatMulInteger16, MatMulInteger16::View>();
}

}  // namespace d5::ops
