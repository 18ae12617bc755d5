// SPDX-License-Identifier: Apache-2.0
// Transpose: dimension i of the output is dimension perm[i] of the input.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/strided_copy_kernel.hpp"

namespace d5::ops {
namespace {

class Transpose final : public MovingOperator {
 public:
  explicit Transpose(const onnx::nodes::Transpose& view)
      : perm_(view.perm().value_or(std::vector<std::int64_t>())) {}

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

  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<detail::StridedCopyKernel>(
        detail::StridedCopy(context.dtype(0), walk(context.output(0).shape, context.shape(0))));
  }

 private:
  /// The input dimension of output dimension `i`; reversed by default.
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

void register_transpose(OperatorRegistry& registry) {
  registry.add<Transpose, onnx::nodes::Transpose>();
}

}  // namespace d5::ops
