// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, or only relabel them.
#include <algorithm>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// The same elements under the output's shape.
Terms relabel(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const Shape& shape = context.output(0).shape;
  if (!shape.is_static()) {
    throw Unsupported(context.who() + ": TensorFlow's kernel requires a constant shape");
  }
  return {graph.reshaped(inputs[0], shape)};
}

Terms transpose(const PlanContext& context, Graph& graph, const Terms& inputs) {
  Sizes permutation(context.shape(0).rank());
  std::iota(permutation.rbegin(), permutation.rend(), 0);
  return {
      graph.transposed(inputs[0], nodes::Transpose(context.node()).perm().value_or(permutation))};
}

Terms concat(const PlanContext& context, Graph& graph, const Terms& inputs) {
  if (inputs.size() == 1) return {graph.elementwise("Identity", inputs)};
  const std::int64_t axis = nodes::Concat(context.node()).axis().value_or(1);
  const bool channels_last =
      axis == 1 && std::ranges::all_of(inputs, [&](Term x) { return graph.has_channels_last(x); });
  if (!channels_last) return {graph.add("ConcatV2", {inputs, graph.integer(axis)})};
  Terms last;  // along channels, which stay where they are
  for (const Term x : inputs) last.push_back(graph.channels_last(x));
  return {graph.channels_first(graph.add("ConcatV2", {last, graph.integer(-1)}))};
}

/// Parts have the outputs' sizes.
Terms split(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const std::int64_t axis = nodes::Split(context.node()).axis().value_or(0);
  const std::size_t front = normalize_axis(axis, context.shape(0).rank(), context.who());
  Sizes sizes;
  for (std::size_t k = 0; k < context.output_count(); ++k) {
    sizes.push_back(context.output(k).shape[front]);
  }
  const Term first = graph.add("SplitV", {inputs[0], graph.integers(sizes), graph.integer(axis)},
                               {{"num_split", std::int64_t(sizes.size())}});
  Terms outputs;
  for (std::size_t k = 0; k < sizes.size(); ++k) outputs.push_back(result(first, int(k)));
  return outputs;
}

/// Starts and ends outside of a dimension are clamped; TensorFlow expresses an open end by a bit.
Terms slice(const PlanContext& context, Graph& graph, const Terms& inputs) {
  using View = nodes::Slice;
  const View view(context.node());
  const bool old = context.node().opset < 10;
  const Shape& shape = context.shape(0);
  const auto integers = [&](std::size_t i) { return told_integers(context, i).values(); };
  const Sizes starts = old ? view.starts() : integers(View::In::starts);
  const Sizes ends = old ? view.ends() : integers(View::In::ends);
  Sizes axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (old) {
    axes = view.axes().value_or(axes);
  } else {
    if (context.has_input(View::In::axes)) axes = integers(View::In::axes);
    if (context.has_input(View::In::steps)) steps = integers(View::In::steps);
  }
  Sizes begin(shape.rank(), 0), end(shape.begin(), shape.end()), stride(shape.rank(), 1);
  std::int64_t to_the_end = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = normalize_axis(axes[i], shape.rank(), context.who());
    const std::int64_t size = shape[axis];
    const bool back = steps[i] < 0;
    const auto clamped = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
      return std::clamp(at < 0 ? at + size : at, low, std::max(low, high));
    };
    begin[axis] = clamped(starts[i], 0, back ? size - 1 : size);
    end[axis] = clamped(ends[i], back ? -1 : 0, back ? size - 1 : size);
    stride[axis] = std::clamp<std::int64_t>(steps[i], -size - 1, size + 1);
    if (end[axis] < 0) to_the_end |= std::int64_t{1} << axis;
  }
  return {graph.add("StridedSlice",
                    {inputs[0], graph.integers(begin), graph.integers(end), graph.integers(stride)},
                    {{"end_mask", to_the_end}})};
}

Terms pad(const PlanContext& context, Graph& graph, const Terms& inputs) {
  using View = nodes::Pad;
  const View view(context.node());
  const std::size_t rank = context.shape(0).rank();
  const bool old = context.node().opset < 11;
  const Sizes given = !old                       ? told_integers(context, View::In::pads).values()
                      : context.node().opset < 2 ? view.paddings()
                                                 : view.pads();
  Sizes axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (context.has_input(View::In::axes)) axes = told_integers(context, View::In::axes).values();
  Sizes amounts(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = normalize_axis(axes[i], rank, context.who());
    amounts[2 * axis] = given[i];
    amounts[2 * axis + 1] = given[axes.size() + i];
  }
  if (std::ranges::any_of(amounts, [](std::int64_t amount) { return amount < 0; })) {
    throw Unsupported(context.who() + ": TensorFlow's padding cannot be negative");
  }
  const Term paddings = graph.reshaped(graph.integers(amounts), {std::int64_t(rank), 2});
  if (view.mode() == "reflect") {
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      if (amounts[i] < context.shape(0)[i / 2]) continue;
      throw Unsupported(context.who() +
                        ": TensorFlow's reflection must be smaller than the dimension");
    }
    return {graph.add("MirrorPad", {inputs[0], paddings}, {{"mode", "REFLECT"}})};
  }
  if (view.mode() != "constant") {
    throw Unsupported(context.who() + ": TensorFlow has no padding of the mode " + view.mode());
  }
  const Term value = context.has_input(View::In::constant_value)
                         ? graph.reshaped(inputs[View::In::constant_value], {})
                         : graph.number(old ? view.value() : 0, inputs[0]);
  return {graph.add("PadV2", {inputs[0], paddings, value})};
}

Terms expand(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const Shape& shape = context.output(0).shape;
  if (!shape.is_static()) {
    throw Unsupported(context.who() + ": TensorFlow's kernel requires a constant shape");
  }
  return {graph.add("BroadcastTo", {inputs[0], graph.integers({shape.begin(), shape.end()})})};
}

Terms tile(const PlanContext& context, Graph& graph, const Terms& inputs) {
  return {graph.add("Tile", {inputs[0], graph.integers(told_integers(context, 1).values())})};
}

Terms cast(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const DType to = context.output(0).dtype;
  if (to == context.dtype(0)) return {graph.add("Identity", {inputs[0]})};
  return {graph.cast(inputs[0], to)};
}

/// Reshapes `x` to `apart`, permutes it, and reshapes it to `joined`.
Term rearranged(Graph& graph, Term x, const Shape& apart, const Sizes& permutation,
                const Shape& joined) {
  return graph.reshaped(graph.transposed(graph.reshaped(x, apart), permutation), joined);
}

Terms depth_to_space(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const nodes::DepthToSpace view(context.node());
  const Shape& x = context.shape(0);
  const std::int64_t b = view.blocksize(), c = x[1] / (b * b);
  const Shape& y = context.output(0).shape;
  if (view.mode() == "CRD") {
    return {rearranged(graph, inputs[0], {x[0], c, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3}, y)};
  }
  return {rearranged(graph, inputs[0], {x[0], b, b, c, x[2], x[3]}, {0, 3, 4, 1, 5, 2}, y)};
}

Terms space_to_depth(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const std::int64_t b = nodes::SpaceToDepth(context.node()).blocksize();
  const Shape& x = context.shape(0);
  const bool channels_first = nodes::SpaceToDepth(context.node()).mode() == "CRD";
  return {rearranged(graph, inputs[0], {x[0], x[1], x[2] / b, b, x[3] / b, b},
                     channels_first ? Sizes{0, 1, 3, 5, 2, 4} : Sizes{0, 3, 5, 1, 2, 4},
                     context.output(0).shape)};
}

}  // namespace

void register_layout(Translators& translators) {
  translators.add<nodes::Reshape>(relabel);
  translators.add<nodes::Flatten>(relabel);
  translators.add<nodes::Squeeze>(relabel);
  translators.add<nodes::Unsqueeze>(relabel);
  translators.add<nodes::Transpose>(transpose);
  translators.add<nodes::Concat>(concat);
  translators.add<nodes::Split>(split);
  translators.add<nodes::Slice>(slice);
  translators.add<nodes::Pad>(pad);
  translators.add<nodes::Expand>(expand);
  translators.add<nodes::Tile>(tile);
  translators.add<nodes::Cast>(cast);
  translators.add<nodes::CastLike>(cast);
  translators.add<nodes::DepthToSpace>(depth_to_space);
  translators.add<nodes::SpaceToDepth>(space_to_depth);
}

}  // namespace d5::tensorflow
