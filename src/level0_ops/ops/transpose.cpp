// SPDX-License-Identifier: Apache-2.0
// Transpose: dimension i of the output is dimension perm[i] of the input.
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"

namespace d5::ops {
namespace {

class Transpose final : public Operator {
 public:
  explicit Transpose(const onnx::Node& node)
      : perm_(onnx::nodes::Transpose(node).perm().value_or(std::vector<std::int64_t>())) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    const std::size_t rank = x.shape.rank();
    std::vector<bool> seen(rank);
    if (!perm_.empty() && perm_.size() != rank) {
      throw ShapeError(fmt::format("{}: perm has {} entries but the input is {}", context.who(),
                                   perm_.size(), to_string(x.shape)));
    }
    Shape result = x.shape;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t from = normalize_axis(source(i, rank), rank, context.who());
      if (seen[from]) {
        throw ValueError(fmt::format("{}: perm names dimension {} twice", context.who(), from));
      }
      seen[from] = true;
      result[i] = x.shape[from];
    }
    return {TensorDesc{x.dtype, result}};
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    detail::copy_strided(x.dtype(), walk(y.shape(), x.shape()), y.raw(), x.raw());
  }

  void backward(GradContext& context) override {
    const Tensor& dy = context.grad_output(0);
    Tensor& dx = context.grad_input(0);
    detail::copy_strided_back(dy.dtype(), walk(dy.shape(), dx.shape()), dy.raw(), dx.raw());
  }

  bool differentiable(std::size_t) const override { return true; }
  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  /// As the node says; by default the dimensions are reversed.
  std::int64_t source(std::size_t i, std::size_t rank) const {
    return perm_.empty() ? std::int64_t(rank - 1 - i) : perm_[i];
  }
  std::size_t axis(std::size_t i, std::size_t rank) const {
    const std::int64_t from = source(i, rank);
    return std::size_t(from < 0 ? from + std::int64_t(rank) : from);
  }
  /// Operand 0 is the output, operand 1 the input.
  detail::StridedLoop walk(const Shape& y, const Shape& x) const {
    const auto to = y.strides(), from = x.strides();
    detail::StridedLoop loop(2);
    for (std::size_t i = 0; i < y.rank(); ++i) {
      loop.add(y[i], {to[i], from[axis(i, y.rank())]});
    }
    return loop;
  }

  std::vector<std::int64_t> perm_;
};

}  // namespace

void register_transpose(OperatorRegistry& registry) { registry.add<Transpose>("Transpose"); }

}  // namespace d5::ops
