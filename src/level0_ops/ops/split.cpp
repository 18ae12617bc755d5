// SPDX-License-Identifier: Apache-2.0
// Split: one tensor into several along an axis.
#include <fmt/format.h>

#include <numeric>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"
#include "level0_ops/integers_input.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::Split;

/// Shapes: the outputs' sizes along the axis add up to the input's.
class Split final : public Operator {
 public:
  explicit Split(const onnx::Node& node)
      : axis_(View(node).axis().value_or(0)), split_(View(node).split()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    const std::size_t axis = normalize_axis(axis_, x.shape.rank(), context.who());
    const auto split = detail::integers_input(context, View::In::split, split_);
    std::vector<ValueDesc> result;
    for (const auto length : lengths(context, split, x.shape[axis])) {
      TensorDesc y = x;
      y.shape[axis] = length;
      result.push_back(y);
    }
    return result;
  }

  void plan(PlanContext& context) override {
    const std::size_t axis = normalize_axis(axis_, context.shape(0).rank(), context.who());
    lengths_.clear();
    for (std::size_t i = 0; i < context.output_count(); ++i) {
      lengths_.push_back(context.output(i).shape[axis]);
    }
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    for (std::size_t i = 0; i < context.outputs.size(); ++i) {
      if (context.wants_output(i)) lengths_[i] = context.output(i).shape()[axis(x)];
    }
    std::int64_t start = 0;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      if (context.wants_output(i)) {
        Tensor& y = context.output(i);
        detail::copy_strided(x.dtype(), walk(x, lengths_[i]), y.raw(), start_of(x, start));
      }
      start += lengths_[i];
    }
  }

  void backward(GradContext& context) override {
    Tensor& dx = context.grad_input(0);
    detail::zero_elements(dx);
    std::int64_t start = 0;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      if (context.has_grad_output(i)) {
        const Tensor& dy = context.grad_output(i);
        void* to = const_cast<void*>(start_of(dx, start));
        detail::copy_strided_back(dy.dtype(), walk(dx, lengths_[i]), dy.raw(), to);
      }
      start += lengths_[i];
    }
  }

  bool differentiable(std::size_t input) const override { return input == 0; }
  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  static std::vector<std::int64_t> lengths(const InferContext& context,
                                           const detail::IntegersInput& split, std::int64_t size) {
    const std::size_t outputs = context.output_count();
    if (split.given && !split.values) return std::vector<std::int64_t>(outputs, kUnknownDim);
    if (!split.given) {
      const auto parts = View(context.node()).num_outputs().value_or(std::int64_t(outputs));
      if (parts < 1 || parts != std::int64_t(outputs)) {
        throw ValueError(fmt::format("{}: num_outputs is {} but the node has {} outputs",
                                     context.who(), parts, outputs));
      }
      const std::int64_t length = size / parts + (size % parts != 0);
      if (size % parts != 0 && (context.node().opset < 18 || length * (parts - 1) > size)) {
        throw ShapeError(fmt::format("{}: a dimension of {} cannot be split into {} parts",
                                     context.who(), size, parts));
      }
      std::vector<std::int64_t> result(outputs, length);
      result.back() = size - length * (parts - 1);
      return result;
    }
    std::int64_t left = size;
    for (const auto length : *split.values) {
      if (length < 0 || length > left) {
        throw ValueError(fmt::format("{}: a part of {} does not fit into what is left of {}: {}",
                                     context.who(), length, size, left));
      }
      left -= length;
    }
    if (left != 0 || split.values->size() != outputs) {
      throw ValueError(fmt::format("{}: {} parts leave {} of {} for {} outputs; they must add up",
                                   context.who(), split.values->size(), left, size, outputs));
    }
    return *split.values;
  }

  [[nodiscard]] std::size_t axis(const Tensor& x) const {
    return normalize_axis(axis_, x.shape().rank(), "Split");
  }
  /// Operand 0 is the part, operand 1 the whole.
  [[nodiscard]] detail::StridedLoop walk(const Tensor& x, std::int64_t length) const {
    const std::size_t d = axis(x), rank = x.shape().rank();
    const std::int64_t inner = x.shape().elements(d + 1, rank);
    detail::StridedLoop loop(2);
    loop.add(x.shape().elements(0, d), {length * inner, x.shape()[d] * inner});
    loop.add(length * inner, {1, 1});
    return loop;
  }
  [[nodiscard]] const void* start_of(const Tensor& x, std::int64_t start) const {
    return detail::element(x, start * x.shape().elements(axis(x) + 1, x.shape().rank()));
  }

  std::int64_t axis_;
  std::optional<detail::Integers> split_;
  std::vector<std::int64_t> lengths_;  // along the axis, of every output
};

}  // namespace

void register_split(OperatorRegistry& registry) { registry.add<Split>("Split"); }

}  // namespace d5::ops
