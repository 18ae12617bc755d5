// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/reduction/reduction.hpp"

namespace d5::detail {

std::vector<ValueDesc> Reduction::infer(const InferContext& context) const {
  const TensorDesc& x = context.input(0);
  const std::size_t rank = x.shape.rank();
  if (context.integers(1, axes_).is_untold()) return {unknown_shape(x.dtype)};
  const auto reduced = reduced_dims(context);
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) {
    if (!reduced[d]) {
      shape.push_back(x.shape[d]);
    } else if (keeps_) {
      shape.push_back(1);
    }
  }
  return {TensorDesc{x.dtype, shape}};
}

ReductionLoops Reduction::loops(const PlanContext& context) const {
  return {context.shape(0), reduced_dims(context)};
}

Cost Reduction::cost_of(const InferContext& context, double flop, double flop_of_result) const {
  const ValueDesc y = infer(context)[0];
  const double results = y.is_static() ? double(y.tensor.elements()) : 0;
  return with_flop(context, flop * double(context.shape(0).elements()) + flop_of_result * results);
}

std::vector<bool> Reduction::reduced_dims(const InferContext& context) const {
  const std::size_t rank = context.shape(0).rank();
  const auto axes = context.integers(1, axes_);
  if (!axes.given() || axes.values().empty()) {
    return std::vector<bool>(rank, !nothing_without_axes_);
  }
  std::vector<bool> result(rank);
  for (const std::size_t d : distinct_axes(axes.values(), rank, context.who())) result[d] = true;
  return result;
}

ReductionLoops::ReductionLoops(const Shape& x, const std::vector<bool>& reduced) {
  Shape kept = x;  // y's elements in x's dimensions
  std::int64_t step_x = 1, step_y = 1;
  for (std::size_t d = 0; d < x.rank(); ++d) {
    step_x *= std::max<std::int64_t>(x[d], 1);
    if (reduced[d]) {
      kept[d] = 1;
      count *= x[d];
    } else {
      step_y *= std::max<std::int64_t>(x[d], 1);
    }
  }
  size = kept.elements();
  pairs = broadcast_loop(x, {&kept});
  for (std::size_t d = 0; d < x.rank(); ++d) {
    step_x /= std::max<std::int64_t>(x[d], 1);
    if (reduced[d]) {
      elements.add(x[d], {step_x});
    } else {
      step_y /= std::max<std::int64_t>(x[d], 1);
      results.add(x[d], {step_y, step_x});
    }
  }
}

}  // namespace d5::detail
