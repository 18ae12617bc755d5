// SPDX-License-Identifier: Apache-2.0
// Concat: concatenates inputs along an axis.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

class ConcatKernel final : public Kernel {
 public:
  explicit ConcatKernel(std::vector<detail::TensorPart> parts) : parts_(std::move(parts)) {}
  void forward(OpContext& context) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].paste(context.input(i), context.output(0));
    }
  }
  void backward(GradContext& context) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (context.wants_grad(i)) parts_[i].cut(context.grad_output(0), context.grad_input(i));
    }
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  std::vector<detail::TensorPart> parts_;  // one per input
};

/// Shapes: the inputs agree except for the axis; the output's axis is the sum of theirs.
class Concat final : public MovingOperator {
 public:
  /// Opset 1 allowed to omit the axis.
  explicit Concat(const onnx::nodes::Concat& view) : axis_(view.axis().value_or(1)) {}

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

  Places gradients() const override { return Places::all(); }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const TensorDesc& y = context.output(0);
    const std::size_t axis = normalize_axis(axis_, y.shape.rank(), context.who());
    std::vector<detail::TensorPart> parts;
    std::int64_t start = 0;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      const std::int64_t length = context.shape(i)[axis];
      parts.emplace_back(y, axis, start, length);
      start += length;
    }
    return std::make_unique<ConcatKernel>(std::move(parts));
  }

 private:
  std::int64_t axis_;
};

}  // namespace

void register_concat(OperatorRegistry& registry) { registry.add<Concat, onnx::nodes::Concat>(); }

}  // namespace d5::ops
