// SPDX-License-Identifier: Apache-2.0
// Trilu: the upper or lower triangle of the last two dimensions, and zeros elsewhere.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using TriluView = onnx::nodes::Trilu;

struct Triangle {
  std::int64_t matrices, rows, columns;
  bool upper;
};

/// T moves like the element type, forward and backward.
template <class T>
class TriluKernel final : public Kernel {
 public:
  explicit TriluKernel(const Triangle& triangle) : triangle_(triangle) {}

  void forward(OpContext& context) override {
    run(context, context.input(TriluView::In::input), context.output(0));
  }
  /// The same triangle of the gradient.
  void backward(GradContext& context) override {
    run(context, context.grad_output(0), context.grad_input(TriluView::In::input));
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {TriluView::In::k}, .backward_reads_outputs = {}};
  }

 private:
  /// Copies x to y; k is an input in both contexts.
  template <class Context>
  void run(const Context& context, const Tensor& x, Tensor& y) const {
    const T* from = static_cast<const T*>(x.raw());
    T* to = static_cast<T*>(y.raw());
    const auto& [matrices, rows, columns, upper] = triangle_;
    // Clamped to the corners, so that sums with k do not overflow.
    const std::int64_t k =
        context.has_input(TriluView::In::k)
            ? std::clamp(*context.input(TriluView::In::k).template data<std::int64_t>(), -rows,
                         columns)
            : 0;
    for (std::int64_t m = 0; m < matrices; ++m) {
      for (std::int64_t i = 0; i < rows; ++i, from += columns, to += columns) {
        // The diagonal belongs to both triangles.
        const std::int64_t split = std::clamp<std::int64_t>(upper ? i + k : i + k + 1, 0, columns);
        const std::int64_t begin = upper ? split : 0, end = upper ? columns : split;
        std::fill(to, to + begin, T());
        std::copy(from + begin, from + end, to + begin);
        std::fill(to + end, to + columns, T());
      }
    }
  }

  Triangle triangle_;
};

/// Shapes: the output is as the input, with at least two dimensions.
class Trilu final : public MovingOperator {
 public:
  explicit Trilu(const TriluView& view) : upper_(view.upper() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(TriluView::In::input);
    if (x.shape.rank() < 2) {
      throw ShapeError(fmt::format("{}: the input is {}, expected two dimensions or more",
                                   context.who(), to_string(x.shape)));
    }
    if (context.has_input(TriluView::In::k)) {
      const TensorDesc& k = context.input(TriluView::In::k);
      if (k.dtype != DType::int64) {
        throw TypeError(
            fmt::format("{}: k is {}, expected int64", context.who(), name_of(k.dtype)));
      }
      if (k.elements() != 1) {
        throw ShapeError(
            fmt::format("{}: k is {}, expected one number", context.who(), to_string(k.shape)));
      }
    }
    return {x};
  }

  Places gradients() const override { return {TriluView::In::input}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& x = context.shape(TriluView::In::input);
    const std::size_t rank = x.rank();
    const Triangle triangle{x.elements(0, rank - 2), x[rank - 2], x[rank - 1], upper_};
    return detail::dispatch_by_size(context.dtype(TriluView::In::input),
                                    [&]<class T>() -> std::unique_ptr<Kernel> {
                                      return std::make_unique<TriluKernel<T>>(triangle);
                                    });
  }

 private:
  bool upper_;
};

}  // namespace

void register_trilu(OperatorRegistry& registry) { registry.add<Trilu, TriluView>(); }

}  // namespace d5::ops
