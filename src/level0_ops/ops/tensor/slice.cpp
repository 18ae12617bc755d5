// SPDX-License-Identifier: Apache-2.0
// Slice: every step-th element from start to end, along axes.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5::ops {
namespace {

using SliceView = onnx::nodes::Slice;

/// `count` elements start, start + step, ... of a dimension.
struct Range {
  std::int64_t start = 0, step = 1, count = 0;
};

class SliceKernel final : public Kernel {
 public:
  /// Operand 0 of `copy` is the slice, operand 1 the tensor from its element `first` on.
  SliceKernel(const detail::StridedCopy& copy, std::int64_t first) : copy_(copy), first_(first) {}
  void forward(OpContext& context) override {
    copy_.run(context.output(0).raw(), detail::element(context.input(0), first_));
  }
  void backward(GradContext& context) override {
    Tensor& dx = context.grad_input(0);
    detail::zero_elements(dx);
    copy_.run_back(context.grad_output(0).raw(), detail::element(dx, first_));
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  detail::StridedCopy copy_;
  std::int64_t first_;
};

class Slice final : public MovingOperator {
 public:
  explicit Slice(const SliceView& view) : axes_(view.axes()) {
    if (view.node().opset >= 10) return;
    starts_ = view.starts();
    ends_ = view.ends();
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = context.input(0);
    const auto known = ranges(context);
    if (!known) return {unknown_shape(y.dtype)};
    for (std::size_t d = 0; d < y.shape.rank(); ++d) y.shape[d] = (*known)[d].count;
    return {y};
  }

  Places gradients() const override { return {SliceView::In::data}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape &x = context.shape(0), &y = context.output(0).shape;
    const auto from = x.strides(), to = y.strides();
    detail::StridedLoop loop(2);
    std::int64_t first = 0;
    const auto known = ranges(context).value();
    for (std::size_t d = 0; d < known.size(); ++d) {
      loop.add(known[d].count, {to[d], known[d].step * from[d]});
      first += known[d].start * from[d];
    }
    return std::make_unique<SliceKernel>(detail::StridedCopy(context.dtype(0), loop),
                                         y.elements() == 0 ? 0 : first);
  }

 private:
  /// One per dimension; nothing if they are not known yet.
  [[nodiscard]] std::optional<std::vector<Range>> ranges(const InferContext& context) const {
    const auto starts = context.integers(SliceView::In::starts, starts_);
    const auto ends = context.integers(SliceView::In::ends, ends_);
    const auto axes = context.integers(SliceView::In::axes, axes_);
    const auto steps = context.integers(SliceView::In::steps);
    if (!starts.given() || !ends.given()) {
      throw ShapeError(fmt::format("{}: starts and ends are required", context.who()));
    }
    if (starts.is_untold() || ends.is_untold() || axes.is_untold() || steps.is_untold()) {
      return std::nullopt;
    }
    const std::size_t count = starts.values().size();
    detail::Integers all(count);
    std::iota(all.begin(), all.end(), 0);
    return resolve(context.shape(0), starts.values(), ends.values(),
                   axes.given() ? axes.values() : all,
                   steps.given() ? steps.values() : detail::Integers(count, 1), context.who());
  }

  static std::vector<Range> resolve(const Shape& x, const detail::Integers& starts,
                                    const detail::Integers& ends, const detail::Integers& axes,
                                    const detail::Integers& steps, const std::string& who) {
    std::vector<Range> result(x.rank());
    for (std::size_t d = 0; d < x.rank(); ++d) result[d].count = x[d];
    if (ends.size() != starts.size() || axes.size() != starts.size() ||
        steps.size() != starts.size()) {
      throw ShapeError(fmt::format("{}: starts, ends, axes and steps differ in length", who));
    }
    const auto places = detail::distinct_axes(axes, x.rank(), who);
    for (std::size_t i = 0; i < places.size(); ++i) {
      result[places[i]] = range(x[places[i]], starts[i], ends[i], steps[i], who);
    }
    return result;
  }

  static Range range(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step,
                     const std::string& who) {
    if (step == 0) throw ValueError(fmt::format("{}: a step is 0", who));
    // Every step beyond the size selects one element.
    step = std::clamp(step, -size - 1, size + 1);
    if (start < 0) start += size;
    if (end < 0) end += size;
    if (step > 0) {
      start = std::clamp<std::int64_t>(start, 0, size);
      end = std::clamp<std::int64_t>(end, 0, size);
      return {start, step, end > start ? (end - start - 1) / step + 1 : 0};
    }
    start = std::clamp<std::int64_t>(start, -1, size - 1);
    end = std::clamp<std::int64_t>(end, -1, size - 1);
    return {start, step, start > end ? (start - end - 1) / -step + 1 : 0};
  }

  std::optional<detail::Integers> starts_, ends_, axes_;
};

}  // namespace

void register_slice(OperatorRegistry& registry) { registry.add<Slice, SliceView>(); }

}  // namespace d5::ops
