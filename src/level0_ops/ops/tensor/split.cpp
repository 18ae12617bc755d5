// SPDX-License-Identifier: Apache-2.0
// Split: splits a tensor along an axis.
#include <fmt/format.h>

#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5::ops {
namespace {

using SplitView = onnx::nodes::Split;

class SplitKernel final : public Kernel {
 public:
  explicit SplitKernel(std::vector<detail::TensorPart> parts) : parts_(std::move(parts)) {}
  void forward(OpContext& context) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (context.wants_output(i)) parts_[i].cut(context.input(0), context.output(i));
    }
  }
  void backward(GradContext& context) override {
    detail::zero_elements(context.grad_input(0));
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (context.has_grad_output(i)) {
        parts_[i].paste(context.grad_output(i), context.grad_input(0));
      }
    }
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  std::vector<detail::TensorPart> parts_;  // one per output
};

/// Shapes: the outputs' sizes along the axis add up to the input's.
class Split final : public MovingOperator {
 public:
  explicit Split(const SplitView& view)
      : axis_(view.axis().value_or(0)), split_(view.split()), num_outputs_(view.num_outputs()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    const std::size_t axis = normalize_axis(axis_, x.shape.rank(), context.who());
    const auto split = context.integers(SplitView::In::split, split_);
    std::vector<ValueDesc> result;
    for (const auto length : lengths(context, split, x.shape[axis])) {
      TensorDesc y = x;
      y.shape[axis] = length;
      result.push_back(y);
    }
    return result;
  }

  Places gradients() const override { return {SplitView::In::input}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const TensorDesc& x = context.input(0);
    const std::size_t axis = normalize_axis(axis_, x.shape.rank(), context.who());
    std::vector<detail::TensorPart> parts;
    std::int64_t start = 0;
    for (std::size_t i = 0; i < context.output_count(); ++i) {
      const std::int64_t length = context.output(i).shape[axis];
      parts.emplace_back(x, axis, start, length);
      start += length;
    }
    return std::make_unique<SplitKernel>(std::move(parts));
  }

 private:
  std::vector<std::int64_t> lengths(const InferContext& context, const IntegersInput& split,
                                    std::int64_t size) const {
    const std::size_t outputs = context.output_count();
    if (split.is_untold()) return std::vector<std::int64_t>(outputs, kUnknownDim);
    if (!split.given()) {
      const auto parts = num_outputs_.value_or(std::int64_t(outputs));
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
    for (const auto length : split.values()) {
      if (length < 0 || length > left) {
        throw ValueError(fmt::format("{}: a part of {} does not fit into what is left of {}: {}",
                                     context.who(), length, size, left));
      }
      left -= length;
    }
    if (left != 0 || split.values().size() != outputs) {
      throw ValueError(fmt::format("{}: {} parts leave {} of {} for {} outputs; they must add up",
                                   context.who(), split.values().size(), left, size, outputs));
    }
    return split.values();
  }

  std::int64_t axis_;
  std::optional<detail::Integers> split_;
  std::optional<std::int64_t> num_outputs_;
};

}  // namespace

void register_split(OperatorRegistry& registry) { registry.add<Split, SplitView>(); }

}  // namespace d5::ops
