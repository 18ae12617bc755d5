// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/reduction.hpp"

#include <algorithm>

#include "d5/onnx/nodes.hpp"

namespace d5::detail {

// All operators of the family have the attributes of ReduceSum. Axes are its input since opset 13,
// the others' since 18.
Reduction::Reduction(const onnx::Node& node) {
  const onnx::nodes::ReduceSum view(node);
  keeps_ = view.keepdims() != 0;
  nothing_without_axes_ = view.noop_with_empty_axes() != 0;
  axes_ = view.axes();
}

std::vector<ValueDesc> Reduction::infer(const InferContext& context) const {
  const TensorDesc& x = context.input(0);
  const std::size_t rank = x.shape.rank();
  const auto axes = integers_input(context, 1, axes_);
  if (axes.given && !axes.values) {
    const auto removed = std::size_t(keeps_ ? 0 : context.shape(1).elements());
    return {TensorDesc{
        x.dtype, Shape(std::vector<std::int64_t>(rank - std::min(rank, removed), kUnknownDim))}};
  }
  const auto reduced = reduced_dims(rank, axes.values, context.who());
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

void Reduction::plan(PlanContext& context) {
  const auto axes = integers_input(context, 1, axes_);
  fixed_ = !axes.given || axes.values;
  if (fixed_) reduced_ = reduced_dims(context.shape(0).rank(), axes.values, context.who());
}

void Reduction::resolve_axes(const OpContext& context) {
  if (fixed_) return;
  reduced_ = reduced_dims(context.input(0).shape().rank(), integers_input(context, 1, axes_),
                          context.who());
}

Shape Reduction::kept_shape(const Shape& x) const {
  Shape result = x;
  for (std::size_t d = 0; d < reduced_.size(); ++d) {
    if (reduced_[d]) result[d] = 1;
  }
  return result;
}

std::int64_t Reduction::reduced_elements(const Shape& x) const {
  std::int64_t result = 1;
  for (std::size_t d = 0; d < reduced_.size(); ++d) {
    if (reduced_[d]) result *= x[d];
  }
  return result;
}

Reduction::Loops Reduction::loops(const Shape& x) const {
  Loops result;
  std::int64_t step_x = 1, step_y = 1;
  for (std::size_t d = 0; d < reduced_.size(); ++d) {
    step_x *= std::max<std::int64_t>(x[d], 1);
    if (!reduced_[d]) step_y *= std::max<std::int64_t>(x[d], 1);
  }
  for (std::size_t d = 0; d < reduced_.size(); ++d) {
    step_x /= std::max<std::int64_t>(x[d], 1);
    if (reduced_[d]) {
      result.elements.add(x[d], {step_x});
    } else {
      step_y /= std::max<std::int64_t>(x[d], 1);
      result.results.add(x[d], {step_y, step_x});
    }
  }
  return result;
}

std::vector<bool> Reduction::reduced_dims(std::size_t rank, const std::optional<Integers>& axes,
                                          const std::string& who) const {
  if (!axes || axes->empty()) return std::vector<bool>(rank, !nothing_without_axes_);
  std::vector<bool> result(rank);
  for (const auto axis : *axes) result[normalize_axis(axis, rank, who)] = true;
  return result;
}

}  // namespace d5::detail
