// SPDX-License-Identifier: Apache-2.0
// Slice: every step-th element from start to end, along some axes.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"
#include "level0_ops/integers_input.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::Slice;

/// Elements start, start + step, ... of one dimension, `count` of them.
struct Range {
  std::int64_t start = 0, step = 1, count = 0;
};

class Slice final : public Operator {
 public:
  explicit Slice(const onnx::Node& node) : axes_(View(node).axes()) {
    if (node.opset >= 10) return;
    starts_ = View(node).starts();
    ends_ = View(node).ends();
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    TensorDesc y = x;
    const auto starts = detail::integers_input(context, View::In::starts, starts_);
    const auto ends = detail::integers_input(context, View::In::ends, ends_);
    const auto axes = detail::integers_input(context, View::In::axes, axes_);
    const auto steps = detail::integers_input(context, View::In::steps, std::nullopt);
    if (!starts.given || !ends.given) {
      throw ShapeError(fmt::format("{}: starts and ends are required", context.who()));
    }
    if (!starts.values || !ends.values || (axes.given && !axes.values) ||
        (steps.given && !steps.values)) {
      for (std::size_t d = 0; d < y.shape.rank(); ++d) y.shape[d] = kUnknownDim;
      return {y};
    }
    const auto ranges =
        resolve(x.shape, *starts.values, *ends.values, axes.values, steps.values, context.who());
    for (std::size_t d = 0; d < ranges.size(); ++d) y.shape[d] = ranges[d].count;
    return {y};
  }

  void plan(PlanContext& context) override {
    const auto starts = detail::integers_input(context, View::In::starts, starts_);
    const auto ends = detail::integers_input(context, View::In::ends, ends_);
    const auto axes = detail::integers_input(context, View::In::axes, axes_);
    const auto steps = detail::integers_input(context, View::In::steps, std::nullopt);
    fixed_ = starts.values && ends.values && (!axes.given || axes.values) &&
             (!steps.given || steps.values);
    if (fixed_) {
      ranges_ = resolve(context.shape(0), *starts.values, *ends.values, axes.values, steps.values,
                        context.who());
    }
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    if (!fixed_) {
      ranges_ =
          resolve(x.shape(), *detail::integers_input(context, View::In::starts, starts_),
                  *detail::integers_input(context, View::In::ends, ends_),
                  detail::integers_input(context, View::In::axes, axes_),
                  detail::integers_input(context, View::In::steps, std::nullopt), context.who());
    }
    Tensor& y = context.output(0);
    if (y.elements() == 0) return;
    std::int64_t first;
    const auto loop = walk(x.shape(), first);
    detail::copy_strided(x.dtype(), loop, y.raw(), detail::element(x, first));
  }

  void backward(GradContext& context) override {
    const Tensor& dy = context.grad_output(0);
    Tensor& dx = context.grad_input(0);
    detail::zero_elements(dx);
    if (dy.elements() == 0) return;
    std::int64_t first;
    const auto loop = walk(dx.shape(), first);
    // The same loop, with the roles of the tensors exchanged.
    detail::copy_strided_back(dy.dtype(), loop, dy.raw(), detail::element(dx, first));
  }

  bool differentiable(std::size_t input) const override { return input == 0; }
  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  using Given = std::optional<detail::Integers>;

  static std::vector<Range> resolve(const Shape& x, const detail::Integers& starts,
                                    const detail::Integers& ends, const Given& axes,
                                    const Given& steps, const std::string& who) {
    std::vector<Range> result(x.rank());
    for (std::size_t d = 0; d < x.rank(); ++d) result[d].count = x[d];
    if (ends.size() != starts.size() || (axes && axes->size() != starts.size()) ||
        (steps && steps->size() != starts.size())) {
      throw ShapeError(fmt::format("{}: starts, ends, axes and steps differ in length", who));
    }
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::size_t d = normalize_axis(axes ? (*axes)[i] : std::int64_t(i), x.rank(), who);
      result[d] = range(x[d], starts[i], ends[i], steps ? (*steps)[i] : 1, who);
    }
    return result;
  }

  static Range range(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step,
                     const std::string& who) {
    if (step == 0) throw ValueError(fmt::format("{}: a step is 0", who));
    // A step beyond the size takes one element, whatever it is.
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

  /// Operand 0 is the dense result, operand 1 the tensor it is cut from, beginning at `first`.
  detail::StridedLoop walk(const Shape& from, std::int64_t& first) const {
    detail::StridedLoop loop(2);
    std::int64_t step_from = from.elements(), step_to = 1;
    for (const Range& range : ranges_) step_to *= range.count;
    first = 0;
    for (std::size_t d = 0; d < ranges_.size(); ++d) {
      step_from /= from[d];
      step_to /= ranges_[d].count;
      first += ranges_[d].start * step_from;
      loop.add(ranges_[d].count, {step_to, ranges_[d].step * step_from});
    }
    return loop;
  }

  std::optional<detail::Integers> starts_, ends_, axes_;
  std::vector<Range> ranges_;
  bool fixed_ = false;
};

}  // namespace

void register_slice(OperatorRegistry& registry) { registry.add<Slice>("Slice"); }

}  // namespace d5::ops
