// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin: where the largest or smallest element along an axis is.
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

/// Shapes: y is x with the axis 1, or without it (keepdims=0). Of equals, the first counts.
template <bool largest>
class ArgExtreme final : public Operator {
 public:
  using View = onnx::nodes::ArgMax;  // ArgMin has the same attributes

  explicit ArgExtreme(const onnx::Node& node)
      : axis_(View(node).axis()),
        keeps_(View(node).keepdims() != 0),
        takes_last_(View(node).select_last_index() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape& x = context.shape(0);
    const std::size_t axis = normalize_axis(axis_, x.rank(), context.who());
    if (x[axis] == 0) {
      throw ShapeError(
          fmt::format("{}: dimension {} of {} is empty", context.who(), axis, to_string(x)));
    }
    Shape y;
    for (std::size_t d = 0; d < x.rank(); ++d) {
      if (d != axis) {
        y.push_back(x[d]);
      } else if (keeps_) {
        y.push_back(1);
      }
    }
    return {TensorDesc{DType::int64, y}};
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    const Shape& shape = x.shape();
    const std::size_t axis = normalize_axis(axis_, shape.rank(), "ArgMax");
    const std::int64_t outer = shape.elements(0, axis), size = shape[axis];
    const std::int64_t inner = shape.elements(axis + 1, shape.rank());
    std::int64_t* y = context.output(0).data<std::int64_t>();
    dispatch(NumberTypes{}, x.dtype(), context.node().op_type, [&]<class T>() {
      using A = Arithmetic<T>;
      for (std::int64_t o = 0; o < outer; ++o) {
        for (std::int64_t i = 0; i < inner; ++i) {
          const T* column = x.data<T>() + o * size * inner + i;
          std::int64_t best = 0;
          for (std::int64_t k = 1; k < size; ++k) {
            const A value = A(column[k * inner]), record = A(column[best * inner]);
            const bool better = largest ? value > record : value < record;
            if (better || (takes_last_ && value == record)) best = k;
          }
          y[o * inner + i] = best;
        }
      }
    });
  }

 private:
  std::int64_t axis_;
  bool keeps_, takes_last_;
};

}  // namespace

void register_arg_extreme(OperatorRegistry& registry) {
  registry.add<ArgExtreme<true>>("ArgMax");
  registry.add<ArgExtreme<false>>("ArgMin");
}

}  // namespace d5::ops
