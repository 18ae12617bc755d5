// SPDX-License-Identifier: Apache-2.0
// Range: numbers from a start up to a limit (exclusive), in equal steps.
#include <fmt/format.h>

#include <cmath>
#include <concepts>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/kernels/elementwise/element_function.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"

namespace d5::ops {
namespace {

using RangeView = onnx::nodes::Range;
using RangeTypes = Join<FloatTypes, Types<std::int16_t, std::int32_t, std::int64_t>>;

/// The number of elements, computed in C; -1 if it exceeds an integer.
template <std::floating_point C>
std::int64_t count(C start, C limit, C delta) {
  const double steps = std::ceil(double(limit - start) / double(delta));
  if (std::isnan(steps) || steps >= 0x1p63) return -1;
  return steps > 0 ? std::int64_t(steps) : 0;
}
/// Unsigned arithmetic can represent every distance between two integers.
template <std::signed_integral C>
std::int64_t count(C start, C limit, C delta) {
  const auto wide = [](C value) { return std::uint64_t(std::int64_t(value)); };
  const bool up = delta > 0;
  if (up ? limit <= start : limit >= start) return 0;
  const std::uint64_t distance = up ? wide(limit) - wide(start) : wide(start) - wide(limit);
  const std::uint64_t step = up ? wide(delta) : -wide(delta);
  const std::uint64_t steps = distance / step + (distance % step != 0 ? 1 : 0);
  return steps >> 63 ? -1 : std::int64_t(steps);
}

template <class T, class C>
void fill(OpContext& run) {
  const auto start = C(*run.input(RangeView::In::start).data<T>());
  const auto delta = C(*run.input(RangeView::In::delta).data<T>());
  T* y = run.output(0).data<T>();
  parallel_for(run.output(0).elements(), detail::kElementGrain, [=](auto i, auto end) {
    for (; i < end; ++i) {
      if constexpr (std::integral<T>) {
        // The sum does not overflow even if the product does.
        y[i] = T(std::uint64_t(start) + std::uint64_t(i) * std::uint64_t(delta));
      } else {
        y[i] = T(start + C(i) * delta);
      }
    }
  });
}

/// Shapes: three numbers; y has max(ceil((limit - start) / delta), 0).
class Range final : public ElementwiseOperator {
 public:
  explicit Range(const RangeView& view) {
    if (const auto type = view.stash_type(); type == std::int64_t(DType::float64)) {
      wide_ = true;
    } else if (type != std::int64_t(DType::float32)) {
      throw ValueError(fmt::format("{}: stash_type is {}, expected 1 (float32) or 11 (float64)",
                                   onnx::describe(view.node()), type));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    bool known = true;
    for (const std::size_t i : {RangeView::In::start, RangeView::In::limit, RangeView::In::delta}) {
      if (context.shape(i).elements() != 1) {
        throw ShapeError(fmt::format("{}: {} is {}, expected one number", context.who(),
                                     onnx::describe_input(context.node(), i),
                                     to_string(context.shape(i))));
      }
      known = known && context.constant(i);
    }
    const std::int64_t size = known ? size_of_output(context) : kUnknownDim;
    return {TensorDesc{context.dtype(RangeView::In::start), Shape{size}}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(RangeTypes{}, context.dtype(RangeView::In::start), context, [&]<class T>() {
      if constexpr (!std::is_same_v<T, Arithmetic<T>>) {
        if (wide_) return detail::forward_kernel(fill<T, double>);
      }
      return detail::forward_kernel(fill<T, Arithmetic<T>>);
    });
  }

 private:
  double flop_per_element() const override { return 2; }

  [[nodiscard]] std::int64_t size_of_output(const InferContext& context) const {
    std::int64_t size = 0;
    const auto read = [&]<class T>() {
      const T start = context.constant(RangeView::In::start)->item<T>();
      const T limit = context.constant(RangeView::In::limit)->item<T>();
      const T delta = context.constant(RangeView::In::delta)->item<T>();
      if (delta == T(0)) {
        throw ValueError(fmt::format("{}: delta is 0; no step leads to the limit", context.who()));
      }
      using C = Arithmetic<T>;
      size = count(C(start), C(limit), C(delta));
      if (size < 0) {
        throw ValueError(
            fmt::format("{}: from {} to {} in steps of {} has no finite number of elements",
                        context.who(), C(start), C(limit), C(delta)));
      }
    };
    dispatch(RangeTypes{}, context.dtype(RangeView::In::start), context.who(), read);
    return size;
  }

  bool wide_ = false;  ///< short floats are computed as double, not as float
};

}  // namespace

void register_range(OperatorRegistry& registry) { registry.add<Range, RangeView>(); }

}  // namespace d5::ops
