// SPDX-License-Identifier: Apache-2.0
// ConcatFromSequence and SplitToSequence: between one tensor and its parts.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"
#include "level0_ops/integers_input.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// Copies `length` slices between a whole and a part, beginning at slice `start` of dimension
/// `axis`.
enum class Direction { to_part, to_whole };
template <Direction direction>
void copy_part(std::conditional_t<direction == Direction::to_whole, Tensor&, const Tensor&> whole,
               std::conditional_t<direction == Direction::to_part, Tensor&, const Tensor&> part,
               std::size_t axis, std::int64_t start, std::int64_t length) {
  const Shape& shape = whole.shape();
  const std::int64_t inner = shape.elements(axis + 1, shape.rank());
  detail::StridedLoop loop(2);
  loop.add(shape.elements(0, axis), {length * inner, shape[axis] * inner});
  loop.add(length * inner, {1, 1});
  if constexpr (direction == Direction::to_part) {
    detail::copy_strided(part.dtype(), loop, part.raw(), detail::element(whole, start * inner));
  } else {
    detail::copy_strided_back(part.dtype(), loop, part.raw(),
                              detail::element(whole, start * inner));
  }
}

/// Shapes: the parts agree but for the axis; with new_axis=1 they are alike, and are stacked.
class ConcatFromSequence final : public Operator {
 public:
  explicit ConcatFromSequence(const onnx::Node& node)
      : axis_(nodes::ConcatFromSequence(node).axis()),
        stacks_(nodes::ConcatFromSequence(node).new_axis() != 0) {}

  std::vector<ValueDesc> infer(const InferContext&) const override { return {ValueDesc{}}; }

  void forward(OpContext& context) override {
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
      copy_part<Direction::to_whole>(y, part, axis, start, part.shape()[axis]);
      start += part.shape()[axis];
    }
  }

 private:
  std::int64_t axis_;
  bool stacks_;
};

/// `split` is the size of each part, or one size for all but the last. Without it, the parts are
/// single slices, and with keepdims=0 they lose the axis.
class SplitToSequence final : public Operator {
 public:
  using View = nodes::SplitToSequence;
  explicit SplitToSequence(const onnx::Node& node)
      : axis_(View(node).axis()), keeps_(View(node).keepdims() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {ValueDesc::sequence_of(TensorDesc{context.dtype(0), {}})};
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    const std::size_t axis = normalize_axis(axis_, x.shape().rank(), context.who());
    Sequence result{TensorDesc{x.dtype(), {}}, {}};
    std::int64_t start = 0;
    for (const std::int64_t length : lengths(context, x.shape()[axis])) {
      TensorDesc desc = x.desc();
      desc.shape[axis] = length;
      Tensor part = context.services().allocate(desc);
      copy_part<Direction::to_part>(x, part, axis, start, length);
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

 private:
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
  registry.add<ConcatFromSequence>("ConcatFromSequence", {.since = 11});
  registry.add<SplitToSequence>("SplitToSequence", {.since = 11});
}

}  // namespace d5::ops
