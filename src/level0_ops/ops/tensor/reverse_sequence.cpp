// SPDX-License-Identifier: Apache-2.0
// ReverseSequence: reverses the first steps of each sequence of a batch.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using ReverseSequenceView = onnx::nodes::ReverseSequence;

/// A step of a sequence has `inner` consecutive elements.
struct Sequences {
  std::int64_t batch, time, inner;
  bool time_first;
};

/// The operation is its own inverse, so the gradient uses the same kernel.
template <class T>
class ReverseSequenceKernel final : public Kernel {
 public:
  explicit ReverseSequenceKernel(const Sequences& sequences) : s_(sequences) {}

  void forward(OpContext& context) override {
    run(context, context.input(ReverseSequenceView::In::input), context.output(0));
  }
  void backward(GradContext& context) override {
    run(context, context.grad_output(0), context.grad_input(ReverseSequenceView::In::input));
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {ReverseSequenceView::In::sequence_lens},
            .backward_reads_outputs = {}};
  }

 private:
  /// Reverses x to y; the lengths are an input in both contexts.
  template <class Context>
  void run(const Context& context, const Tensor& x, Tensor& y) const {
    const auto lengths =
        context.input(ReverseSequenceView::In::sequence_lens).template span<std::int64_t>();
    for (const auto length : lengths) {
      if (length < 0 || length > s_.time) {
        throw ValueError(fmt::format("{}: a sequence has {} steps, expected 0 to {}", context.who(),
                                     length, s_.time));
      }
    }
    const T* from = static_cast<const T*>(x.raw());
    T* to = static_cast<T*>(y.raw());
    detail::parallel_for_each(s_.batch * s_.time, s_.inner, 16384, [&](std::int64_t i) {
      const std::int64_t b = s_.time_first ? i % s_.batch : i / s_.time;
      const std::int64_t t = s_.time_first ? i / s_.batch : i % s_.time;
      const std::int64_t length = lengths[std::size_t(b)];
      const std::int64_t source = t < length ? length - 1 - t : t;
      const std::int64_t step = s_.time_first ? s_.batch : 1;
      std::copy_n(from + (i + (source - t) * step) * s_.inner, s_.inner, to + i * s_.inner);
    });
  }

  Sequences s_;
};

/// Shapes: batch and time are the first two dimensions of x, in either order; there is one length
/// per sequence of the batch.
class ReverseSequence final : public MovingOperator {
 public:
  explicit ReverseSequence(const ReverseSequenceView& view)
      : batch_axis_(view.batch_axis()), time_axis_(view.time_axis()) {
    const bool are_first_two =
        (batch_axis_ == 0 && time_axis_ == 1) || (batch_axis_ == 1 && time_axis_ == 0);
    if (!are_first_two) {
      throw ValueError(
          fmt::format("{}: batch_axis is {} and time_axis {}, expected 0 and 1 or 1 and 0",
                      onnx::describe(view.node()), batch_axis_, time_axis_));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(ReverseSequenceView::In::input);
    if (x.shape.rank() < 2) {
      throw ShapeError(fmt::format("{}: the input is {}, expected two dimensions or more",
                                   context.who(), to_string(x.shape)));
    }
    const Shape &lengths = context.shape(ReverseSequenceView::In::sequence_lens),
                expected{x.shape[batch()]};
    if (lengths != expected) {
      throw ShapeError(fmt::format("{}: sequence_lens is {}, expected {}", context.who(),
                                   to_string(lengths), to_string(expected)));
    }
    return {x};
  }

  Places gradients() const override { return {ReverseSequenceView::In::input}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& x = context.shape(ReverseSequenceView::In::input);
    const Sequences sequences{x[batch()], x[1 - batch()], x.elements(2, x.rank()), time_axis_ == 0};
    return detail::dispatch_by_size(context.dtype(0), [&]<class T>() -> std::unique_ptr<Kernel> {
      return std::make_unique<ReverseSequenceKernel<T>>(sequences);
    });
  }

 private:
  [[nodiscard]] std::size_t batch() const { return std::size_t(batch_axis_); }

  std::int64_t batch_axis_, time_axis_;
};

}  // namespace

void register_reverse_sequence(OperatorRegistry& registry) {
  registry.add<ReverseSequence, ReverseSequenceView>();
}

}  // namespace d5::ops
