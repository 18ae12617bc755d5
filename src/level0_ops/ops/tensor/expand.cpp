// SPDX-License-Identifier: Apache-2.0
// Expand and Tile: repeat elements.
#include <fmt/format.h>

#include <cmath>
#include <concepts>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/broadcast.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// The gradient sums over the copies.
template <class T>
class RepetitionKernel final : public Kernel {
 public:
  /// Operand 0 of the loop is the output, operand 1 the input.
  RepetitionKernel(const PlanContext& context, const detail::StridedLoop& loop)
      : copy_(context.dtype(0), loop), sum_(loop, context.shape(0).elements()) {}

  void forward(OpContext& context) override {
    copy_.run(context.output(0).raw(), context.input(0).raw());
  }
  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      sum_.run(context.grad_input(0).data<T>(), context.grad_output(0).data<T>(),
               [](auto, auto) { return T(1); });
    } else {
      Kernel::backward(context);
    }
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  detail::StridedCopy copy_;
  detail::GradientSum sum_;
};

/// A subclass defines the source element of each copy.
class Repetition : public MovingOperator {
 public:
  Places gradients() const override { return {0}; }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const auto loop = walk(context.output(0).shape, context.shape(0));
    return detail::moving_kernel_for(context.dtype(0), context, [&]<class T>() {
      return std::make_unique<RepetitionKernel<T>>(context, loop);
    });
  }

 private:
  /// Operand 0 is the output, operand 1 the input.
  [[nodiscard]] virtual detail::StridedLoop walk(const Shape& y, const Shape& x) const = 0;
};

/// Shapes: y is x and the values of the second input, broadcast to each other.
class Expand final : public Repetition {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    const auto wanted = context.integers(nodes::Expand::In::shape);
    if (wanted.is_untold()) return {unknown_shape(x.dtype)};
    for (const auto dim : wanted.values()) {
      if (dim < 0) {
        throw ValueError(
            fmt::format("{}: a dimension is {}, expected 0 or more", context.who(), dim));
      }
    }
    try {
      return {TensorDesc{x.dtype, broadcast(x.shape, Shape(wanted.values()))}};
    } catch (const ShapeError& error) {
      throw ShapeError(fmt::format("{}: {}", context.who(), error.what()));
    }
  }

 private:
  detail::StridedLoop walk(const Shape& y, const Shape& x) const override {
    return detail::broadcast_loop(y, {&x});
  }
};

/// Shapes: dimension i of y is dimension i of x, times the value i of repeats.
class Tile final : public Repetition {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = context.input(0);
    const std::size_t rank = y.shape.rank();
    if (context.node().opset < 6) {  // two scalars: number of tiles, and axis
      const auto tiles = context.constant(1), axis = context.constant(2);
      if (!tiles || !axis) return {unknown_shape(y.dtype)};
      multiply(y.shape, normalize_axis(scalar(*axis, context), rank, context.who()),
               scalar(*tiles, context), context);
      return {y};
    }
    const auto repeats = context.integers(nodes::Tile::In::repeats);
    if (repeats.is_untold()) return {unknown_shape(y.dtype)};
    if (repeats.values().size() != rank) {
      throw ShapeError(fmt::format("{}: {} repeats are given for {}", context.who(),
                                   repeats.values().size(), to_string(y.shape)));
    }
    for (std::size_t d = 0; d < rank; ++d) multiply(y.shape, d, repeats.values()[d], context);
    return {y};
  }

 private:
  static std::int64_t scalar(const Tensor& tensor, const InferContext& context) {
    double result = 0;
    dispatch(Types<float, double, Float16, std::int32_t, std::int64_t>{}, tensor.dtype(),
             context.who(), [&]<class T>() { result = double(tensor.item<T>()); });
    if (!(std::abs(result) < 0x1p53)) {
      throw ValueError(fmt::format("{}: {} counts nothing", context.who(), result));
    }
    return std::int64_t(result);
  }
  static void multiply(Shape& shape, std::size_t d, std::int64_t times,
                       const InferContext& context) {
    if (times < 0 || __builtin_mul_overflow(shape[d], times, &shape[d])) {
      throw ValueError(fmt::format("{}: dimension {} of {} cannot be repeated {} times",
                                   context.who(), d, to_string(shape), times));
    }
  }

  detail::StridedLoop walk(const Shape& y, const Shape& x) const override {
    detail::StridedLoop loop(2);
    if (y.elements() == 0) {
      loop.add(0, {0, 0});
      return loop;
    }
    std::int64_t step_y = y.elements(), step_x = x.elements();
    for (std::size_t d = 0; d < y.rank(); ++d) {
      step_y /= y[d];
      step_x /= x[d];
      loop.add(y[d] / x[d], {step_y * x[d], 0});
      loop.add(x[d], {step_y, step_x});
    }
    return loop;
  }
};

}  // namespace

void register_expand(OperatorRegistry& registry) {
  registry.add<Expand, nodes::Expand>();
  registry.add<Tile, nodes::Tile>();
}

}  // namespace d5::ops
