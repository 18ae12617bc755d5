// SPDX-License-Identifier: Apache-2.0
// com.microsoft's QLinearWhere and QLinearReduceMean: ONNX operators on quantized numbers, with
// inputs besides operands.
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using detail::Composition;
using detail::Term;
namespace nodes = onnx::nodes::microsoft;

/// Dequantizes input `i`, which is followed by its scale and its zero point.
Term dequantized(Composition& c, std::size_t i) {
  return c.add("DequantizeLinear", {c.input(i), c.input(i + 1), c.input(i + 2)});
}

/// Scale and zero point are inputs `i` and `i + 1`; the latter determines the type.
Term quantized(Composition& c, Term reals, std::size_t i, DType otherwise) {
  Composition::Attributes type;
  if (!c.input(i + 1)) type["output_dtype"] = std::int64_t(otherwise);
  return c.add("QuantizeLinear", {reals, c.input(i), c.input(i + 1)}, type);
}

/// Z = condition ? X : Y.
class QLinearWhere final : public detail::ComposedOperator {
 public:
  using View = nodes::QLinearWhere;
  using In = View::In;

 protected:
  void compose(Composition& c) const override {
    const Term z =
        c.add("Where", {c.input(In::condition), dequantized(c, In::X), dequantized(c, In::Y)});
    c.output(0, quantized(c, z, In::z_scale, c.context().dtype(In::X)));
  }
};

class QLinearReduceMean final : public detail::ComposedOperator {
 public:
  using View = nodes::QLinearReduceMean;
  using In = View::In;
  explicit QLinearReduceMean(const View& view) : axes_(view.axes()), keepdims_(view.keepdims()) {}

 protected:
  void compose(Composition& c) const override {
    const Term mean = c.add("ReduceMean", {dequantized(c, In::data), c.integers(axes_)},
                            {{"keepdims", keepdims_}});
    c.output(0, quantized(c, mean, In::reduced_scale, c.context().dtype(In::data)));
  }

 private:
  std::vector<std::int64_t> axes_;
  std::int64_t keepdims_;
};

}  // namespace

void register_requantized(OperatorRegistry& registry) {
  registry.add<QLinearWhere, QLinearWhere::View>();
  registry.add<QLinearReduceMean, QLinearReduceMean::View>();
}

}  // namespace d5::ops
