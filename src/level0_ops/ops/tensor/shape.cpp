// SPDX-License-Identifier: Apache-2.0
// Shape, Size, ConstantOfShape: conversions between tensors and sizes.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// Shapes: y is one-dimensional, with x's dimensions [start, end).
class ShapeOperator final : public MovingOperator {
 public:
  explicit ShapeOperator(const nodes::Shape& view) : start_(view.start()), end_(view.end()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto [begin, end] = range(context.shape(0).rank());
    return {TensorDesc{DType::int64, Shape{std::max<std::int64_t>(0, end - begin)}}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& shape = context.shape(0);
    const auto [begin, end] = range(shape.rank());
    std::vector<std::int64_t> dims;
    for (std::int64_t d = begin; d < end; ++d) dims.push_back(shape[std::size_t(d)]);
    return detail::forward_kernel([dims](OpContext& run) {
      std::copy(dims.begin(), dims.end(), run.output(0).data<std::int64_t>());
    });
  }

 private:
  /// Negative bounds count from the back; bounds outside are clamped.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range(std::size_t rank) const {
    const auto n = std::int64_t(rank);
    const auto place = [n](std::int64_t axis) {
      return std::clamp<std::int64_t>(axis < 0 ? axis + n : axis, 0, n);
    };
    return {place(start_), end_ ? place(*end_) : n};
  }

  std::int64_t start_;
  std::optional<std::int64_t> end_;
};

class Size final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext&) const override {
    return {TensorDesc{DType::int64, Shape{}}};
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::forward_kernel([size = context.shape(0).elements()](OpContext& run) {
      *run.output(0).data<std::int64_t>() = size;
    });
  }
};

/// Shapes: the input has the dimensions of y.
class ConstantOfShape final : public MovingOperator {
 public:
  explicit ConstantOfShape(const nodes::ConstantOfShape& view)
      : value_(view.value().value_or(Tensor::scalar(0.0f))) {
    if (value_.elements() != 1) {
      throw ShapeError(fmt::format("{}: attribute value is {}, expected one element",
                                   onnx::describe(view.node()), to_string(value_.desc())));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto dims = context.integers(0);
    if (dims.is_untold()) return {unknown_shape(value_.dtype())};
    for (const auto dim : dims.values()) {
      if (dim < 0) {
        throw ValueError(
            fmt::format("{}: a dimension is {}, expected 0 or more", context.who(), dim));
      }
    }
    return {TensorDesc{value_.dtype(), Shape(dims.values())}};
  }

  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::dispatch_by_size(value_.dtype(), [&]<class T>() {
      return detail::forward_kernel([value = *static_cast<const T*>(value_.raw())](OpContext& run) {
        Tensor& y = run.output(0);
        std::fill_n(static_cast<T*>(y.raw()), y.elements(), value);
      });
    });
  }

 private:
  Tensor value_;
};

}  // namespace

void register_shape(OperatorRegistry& registry) {
  registry.add<ShapeOperator, nodes::Shape>();
  registry.add<Size, nodes::Size>();
  registry.add<ConstantOfShape, nodes::ConstantOfShape>();
}

}  // namespace d5::ops
