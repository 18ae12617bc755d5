// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin: index of the largest or smallest element along an axis.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"

namespace d5::ops {
namespace {

/// Shapes: y is x with the axis 1, or without it (keepdims=0). The first of equal elements is
/// taken; NaN counts as both the largest and the smallest.
template <bool largest, class View>
class ArgExtreme final : public Operator {
 public:
  explicit ArgExtreme(const View& view)
      : axis_(view.axis()),
        keeps_(view.keepdims() != 0),
        takes_last_(view.select_last_index() != 0) {}

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

  /// Every element is compared once.
  Cost cost(const InferContext& context) const override {
    return with_flop(context, double(context.shape(0).elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& x = context.shape(0);
    const std::size_t axis = normalize_axis(axis_, x.rank(), context.who());
    const std::int64_t outer = x.elements(0, axis), size = x[axis];
    const std::int64_t inner = x.elements(axis + 1, x.rank());
    return kernel_for(NumberTypes{}, context.dtype(0), context, [&]<class T>() {
      return detail::forward_kernel([=, takes_last = takes_last_](OpContext& run) {
        const T* column = run.input(0).data<T>();
        std::int64_t* y = run.output(0).data<std::int64_t>();
        for (std::int64_t o = 0; o < outer; ++o, column += size * inner) {
          for (std::int64_t i = 0; i < inner; ++i) {
            *y++ = place(column + i, size, inner, takes_last);
          }
        }
      });
    });
  }

 private:
  template <class T>
  static std::int64_t place(const T* column, std::int64_t size, std::int64_t step,
                            bool takes_last) {
    using A = Arithmetic<T>;
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < size; ++k) {
      const A value = A(column[k * step]), record = A(column[best * step]);
      const bool value_is_nan = value != value, record_is_nan = record != record;
      const bool equal = value == record || (value_is_nan && record_is_nan);
      const bool better =
          !record_is_nan && (value_is_nan || (largest ? value > record : value < record));
      if (better || (takes_last && equal)) best = k;
    }
    return best;
  }

  std::int64_t axis_;
  bool keeps_, takes_last_;
};

}  // namespace

void register_arg_extreme(OperatorRegistry& registry) {
  using onnx::nodes::ArgMax, onnx::nodes::ArgMin;
  registry.add<ArgExtreme<true, ArgMax>, ArgMax>();
  registry.add<ArgExtreme<false, ArgMin>, ArgMin>();
}

}  // namespace d5::ops
