// SPDX-License-Identifier: Apache-2.0
// Shape, Size, ConstantOfShape: between tensors and their sizes.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"
#include "level0_ops/integers_input.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// Shapes: y is one-dimensional, of x's dimensions [start, end).
class ShapeOperator final : public Operator {
 public:
  explicit ShapeOperator(const onnx::Node& node)
      : start_(nodes::Shape(node).start()), end_(nodes::Shape(node).end()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto [begin, end] = range(context.shape(0).rank());
    return {TensorDesc{DType::int64, Shape{std::max<std::int64_t>(0, end - begin)}}};
  }

  void forward(OpContext& context) override {
    const Shape& shape = context.input(0).shape();
    const auto [begin, end] = range(shape.rank());
    std::int64_t* to = context.output(0).data<std::int64_t>();
    for (std::int64_t d = begin; d < end; ++d) *to++ = shape[std::size_t(d)];
  }

 private:
  /// Negative ones count from the back; beyond the ends they are clamped.
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

class Size final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext&) const override {
    return {TensorDesc{DType::int64, Shape{}}};
  }
  void forward(OpContext& context) override {
    *context.output(0).data<std::int64_t>() = context.input(0).elements();
  }
};

/// Shapes: y is as the values of the input say.
class ConstantOfShape final : public Operator {
 public:
  explicit ConstantOfShape(const onnx::Node& node)
      : value_(nodes::ConstantOfShape(node).value().value_or(Tensor::scalar(0.0f))) {
    if (value_.elements() != 1) {
      throw ShapeError(fmt::format("{}: attribute value is {}, expected one element",
                                   onnx::describe(node), to_string(value_.desc())));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto dims = context.constant_integers(0);
    if (!dims) return {TensorDesc{value_.dtype(), detail::unknown_shape(context.shape(0))}};
    for (const auto dim : *dims) {
      if (dim < 0) {
        throw ValueError(
            fmt::format("{}: a dimension is {}, expected 0 or more", context.who(), dim));
      }
    }
    return {TensorDesc{value_.dtype(), Shape(*dims)}};
  }

  void forward(OpContext& context) override {
    Tensor& y = context.output(0);
    detail::fill_elements(y.dtype(), y.raw(), value_.raw(), y.elements());
  }

 private:
  Tensor value_;
};

}  // namespace

void register_shape(OperatorRegistry& registry) {
  registry.add<ShapeOperator>("Shape");
  registry.add<Size>("Size");
  registry.add<ConstantOfShape>("ConstantOfShape");
}

}  // namespace d5::ops
