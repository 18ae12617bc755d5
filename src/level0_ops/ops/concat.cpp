// SPDX-License-Identifier: Apache-2.0
// Concat: inputs one after the other along an axis.
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"

namespace d5::ops {
namespace {

/// Shapes: the inputs agree but for the axis; the output's axis is the sum of theirs.
class Concat final : public Operator {
 public:
  /// Opset 1 allowed to leave the axis out.
  explicit Concat(const onnx::Node& node) : axis_(onnx::nodes::Concat(node).axis().value_or(1)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc result = context.input(0);
    const std::size_t rank = result.shape.rank();
    const std::size_t axis = normalize_axis(axis_, rank, context.who());
    for (std::size_t i = 1; i < context.input_count(); ++i) {
      const TensorDesc& x = context.input(i);
      if (x.dtype != result.dtype) {
        throw TypeError(fmt::format("{}: input {} is {} but input 0 is {}", context.who(), i,
                                    name_of(x.dtype), name_of(result.dtype)));
      }
      for (std::size_t d = 0; d < rank; ++d) {
        if (x.shape.rank() != rank || (d != axis && x.shape[d] != result.shape[d])) {
          throw ShapeError(
              fmt::format("{}: input {} is {} but input 0 is {}; they may differ in "
                          "dimension {} only",
                          context.who(), i, to_string(x.shape), to_string(context.shape(0)), axis));
        }
      }
      result.shape[axis] += x.shape[axis];
    }
    return {result};
  }

  void plan(PlanContext& context) override {
    const std::size_t rank = context.shape(0).rank();
    const std::size_t axis = normalize_axis(axis_, rank, context.who());
    lengths_.clear();
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      lengths_.push_back(context.shape(i).elements(axis, rank));
    }
  }

  void forward(OpContext& context) override {
    Tensor& y = context.output(0);
    const std::size_t axis = normalize_axis(axis_, y.shape().rank(), "Concat");
    const std::int64_t rows = y.shape().elements(0, axis);
    const std::int64_t row = y.shape().elements(axis, y.shape().rank());
    std::int64_t start = 0;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      const Tensor& x = context.input(i);
      if (x.elements() == 0) continue;
      const std::int64_t length = x.elements() / rows;
      detail::StridedLoop loop(2);
      loop.add(rows, {row, length});
      loop.add(length, {1, 1});
      detail::copy_strided(y.dtype(), loop, detail::element(y, start), x.raw());
      start += length;
    }
  }

  void backward(GradContext& context) override {
    const Tensor& dy = context.grad_output(0);
    const std::size_t axis = normalize_axis(axis_, dy.shape().rank(), "Concat");
    const std::int64_t rows = dy.shape().elements(0, axis);
    const std::int64_t row = dy.shape().elements(axis, dy.shape().rank());
    std::int64_t start = 0;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      const std::int64_t length = lengths_[i];
      if (context.wants_grad(i)) {
        Tensor& dx = context.grad_input(i);
        detail::StridedLoop loop(2);
        loop.add(rows, {length, row});
        loop.add(length, {1, 1});
        detail::copy_strided(dy.dtype(), loop, dx.raw(), detail::element(dy, start));
      }
      start += length;
    }
  }

  bool differentiable(std::size_t) const override { return true; }
  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  std::int64_t axis_ = 1;              // opset 1 allowed to leave it out
  std::vector<std::int64_t> lengths_;  // of each input's rows, from the axis on
};

}  // namespace

void register_concat(OperatorRegistry& registry) { registry.add<Concat>("Concat"); }

}  // namespace d5::ops
