// SPDX-License-Identifier: Apache-2.0
// ConcatFromSequence and SplitToSequence: between a tensor and a sequence of its parts.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// Shapes: the parts agree except for the axis; with new_axis=1 they are equal, and stacked.
class ConcatFromSequence final : public MovingOperator {
 public:
  explicit ConcatFromSequence(const nodes::ConcatFromSequence& view)
      : axis_(view.axis()), stacks_(view.new_axis() != 0) {}

  std::vector<ValueDesc> infer(const InferContext&) const override { return {ValueDesc{}}; }

  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([this](OpContext& context) { join(context); });
  }

 private:
  void join(OpContext& context) const {
    const auto& values = context.input_value(0).sequence().values;
    if (values.empty()) throw ValueError(fmt::format("{}: the sequence is empty", context.who()));
    std::vector<Tensor> parts;
    for (const Value& value : values) parts.push_back(value.tensor());
    const std::size_t rank = parts[0].shape().rank() + (stacks_ ? 1 : 0);
    const std::size_t axis = normalize_axis(axis_, rank, context.who());
    if (stacks_) {
      for (Tensor& part : parts) {
        std::vector<std::int64_t> dims(part.shape().begin(), part.shape().end());
        dims.insert(dims.begin() + std::ptrdiff_t(std::min(axis, dims.size())), 1);
        part = part.reshaped(Shape(dims));
      }
    }
    TensorDesc whole = parts[0].desc();
    whole.shape[axis] = 0;
    for (const Tensor& part : parts) {
      Shape like = part.shape();
      if (like.rank() == rank) like[axis] = parts[0].shape()[axis];
      if (like != parts[0].shape() || part.dtype() != whole.dtype) {
        throw ShapeError(fmt::format("{}: {} and {} cannot be joined along dimension {}",
                                     context.who(), to_string(parts[0].desc()),
                                     to_string(part.desc()), axis));
      }
      whole.shape[axis] += part.shape()[axis];
    }
    Tensor& y = context.allocate(0, whole);
    std::int64_t start = 0;
    for (const Tensor& part : parts) {
      const std::int64_t length = part.shape()[axis];
      detail::TensorPart(whole, axis, start, length).paste(part, y);
      start += length;
    }
  }

  std::int64_t axis_;
  bool stacks_;
};

/// `split` is the size of each part, or one size for all except the last. Without it, the parts are
/// single slices, without the axis if keepdims=0.
class SplitToSequence final : public MovingOperator {
 public:
  using View = nodes::SplitToSequence;
  explicit SplitToSequence(const View& view) : axis_(view.axis()), keeps_(view.keepdims() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {ValueDesc::sequence_of(TensorDesc{context.dtype(0), {}})};
  }

  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([this](OpContext& context) { split(context); });
  }

 private:
  void split(OpContext& context) const {
    const Tensor& x = context.input(0);
    const std::size_t axis = normalize_axis(axis_, x.shape().rank(), context.who());
    Sequence result{TensorDesc{x.dtype(), {}}, {}};
    std::int64_t start = 0;
    for (const std::int64_t length : lengths(context, x.shape()[axis])) {
      TensorDesc desc = x.desc();
      desc.shape[axis] = length;
      Tensor part = context.services().allocate(desc);
      detail::TensorPart(x.desc(), axis, start, length).cut(x, part);
      start += length;
      if (!context.has_input(View::In::split) && !keeps_) {
        std::vector<std::int64_t> dims(desc.shape.begin(), desc.shape.end());
        dims.erase(dims.begin() + std::ptrdiff_t(axis));
        part = part.reshaped(Shape(dims));
      }
      result.values.emplace_back(std::move(part));
    }
    context.set_output(0, std::move(result));
  }

  static detail::Integers lengths(const OpContext& context, std::int64_t size) {
    detail::Integers split{1};
    bool one_for_all = true;
    if (context.has_input(View::In::split)) {
      const Tensor& given = context.input(View::In::split);
      split = detail::integers_of(given, context.node().op_type);
      one_for_all = given.shape().rank() == 0;
    }
    if (one_for_all) {
      const std::int64_t length = split[0];
      if (length < 1) {
        throw ValueError(fmt::format("{}: split is {}, expected 1 or more", context.who(), length));
      }
      if (size / length >= context.services().iteration_budget()) {
        throw ValueError(fmt::format("{}: a dimension of {} has too many parts of {}: at most {}",
                                     context.who(), size, length,
                                     context.services().iteration_budget()));
      }
      split.assign(std::size_t(size / length), length);
      if (size % length != 0) split.push_back(size % length);
      return split;
    }
    std::int64_t left = size;
    for (const auto length : split) {
      if (length < 0 || length > left) {
        left = -1;
        break;
      }
      left -= length;
    }
    if (left != 0) {
      throw ValueError(fmt::format("{}: the parts do not add up to {}", context.who(), size));
    }
    return split;
  }

  std::int64_t axis_;
  bool keeps_;
};

}  // namespace

void register_sequence_parts(OperatorRegistry& registry) {
  registry.add<ConcatFromSequence, nodes::ConcatFromSequence>();
  registry.add<SplitToSequence, nodes::SplitToSequence>();
}

}  // namespace d5::ops
