// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// A reduction: an operation on the elements, one that combines them, and one on the results.
struct Function {
  const char* before = nullptr;
  const char* reduce;
  const char* after = nullptr;
};

/// The dimensions that a node reduces, counted from the front; none: single elements.
Sizes axes_of(const PlanContext& context) {
  const nodes::ReduceSum view(context.node());
  const auto rank = std::int64_t(context.shape(0).rank());
  Sizes axes;
  const auto given = told_integers(context, nodes::ReduceSum::In::axes, view.axes());
  if (given.given()) axes = given.values();
  if (axes.empty() && view.noop_with_empty_axes() == 0) {
    axes.resize(std::size_t(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (auto& axis : axes) {
    axis = std::int64_t(normalize_axis(axis, std::size_t(rank), context.who()));
  }
  return axes;
}

Term reduce(const char* type, Graph& graph, Term x, const Sizes& axes, bool keep) {
  return graph.add(type, {x, graph.integers(axes)}, {{"keep_dims", keep}});
}

template <class View>
void add_reduction(Translators& translators, Function function) {
  translators.add<View>(
      [function](const PlanContext& context, Graph& graph, const Terms& inputs) -> Terms {
        const bool keep = nodes::ReduceSum(context.node()).keepdims() != 0;
        Term x = inputs[0];
        if (function.before) x = graph.add(function.before, {x});
        x = reduce(function.reduce, graph, x, axes_of(context), keep);
        return {function.after ? graph.add(function.after, {x}) : x};
      });
}

/// log(sum of exp(x - m)) + m, where m is the largest element if that is finite.
Terms log_sum_exp(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const Sizes axes = axes_of(context);
  const Term largest = reduce("Max", graph, inputs[0], axes, true);
  const Term zero = graph.add("ZerosLike", {largest});
  const Term top = graph.add(
      "StopGradient", {graph.add("SelectV2", {graph.add("IsFinite", {largest}), largest, zero})});
  const Term sum =
      reduce("Sum", graph, graph.add("Exp", {graph.add("Sub", {inputs[0], top})}), axes, true);
  const Term y = graph.add("AddV2", {graph.add("Log", {sum}), top});
  return {graph.reshaped(y, context.output(0).shape)};
}

template <class View>
void add_extreme_place(Translators& translators, const char* type) {
  translators.add<View>(
      [type](const PlanContext& context, Graph& graph, const Terms& inputs) -> Terms {
        const View view(context.node());
        const Shape& x = context.shape(0);
        const auto axis = std::int64_t(normalize_axis(view.axis(), x.rank(), context.who()));
        const bool last = view.select_last_index() != 0;
        const Term from =
            last ? graph.add("ReverseV2", {inputs[0], graph.integers({axis})}) : inputs[0];
        Term place = graph.add(type, {from, graph.integer(axis)}, {{"output_type", DType::int64}});
        if (last) {
          const auto size = double(x[std::size_t(axis)]);
          place = graph.add("Sub", {graph.number(size - 1, DType::int64), place});
        }
        return {graph.reshaped(place, context.output(0).shape)};
      });
}

/// Global pooling: over all spatial dimensions, for any position of the channels.
template <class View>
void add_global_pool(Translators& translators, const char* type) {
  translators.add<View>(
      [type](const PlanContext& context, Graph& graph, const Terms& inputs) -> Terms {
        const bool is_last = graph.has_channels_last(inputs[0]);
        Sizes axes(context.shape(0).rank() - 2);
        std::iota(axes.begin(), axes.end(), is_last ? 1 : 2);
        const Term x = is_last ? graph.channels_last(inputs[0]) : inputs[0];
        const Term y = reduce(type, graph, x, axes, true);
        return {is_last ? graph.channels_first(y) : y};
      });
}

}  // namespace

void register_reduction(Translators& translators) {
  add_reduction<nodes::ReduceSum>(translators, {.reduce = "Sum"});
  add_reduction<nodes::ReduceMean>(translators, {.reduce = "Mean"});
  add_reduction<nodes::ReduceMax>(translators, {.reduce = "Max"});
  add_reduction<nodes::ReduceMin>(translators, {.reduce = "Min"});
  add_reduction<nodes::ReduceProd>(translators, {.reduce = "Prod"});
  add_reduction<nodes::ReduceL1>(translators, {.before = "Abs", .reduce = "Sum"});
  add_reduction<nodes::ReduceL2>(translators,
                                 {.before = "Square", .reduce = "Sum", .after = "Sqrt"});
  add_reduction<nodes::ReduceLogSum>(translators, {.reduce = "Sum", .after = "Log"});
  add_reduction<nodes::ReduceSumSquare>(translators, {.before = "Square", .reduce = "Sum"});
  translators.add<nodes::ReduceLogSumExp>(log_sum_exp);
  add_extreme_place<nodes::ArgMax>(translators, "ArgMax");
  add_extreme_place<nodes::ArgMin>(translators, "ArgMin");
  add_global_pool<nodes::GlobalAveragePool>(translators, "Mean");
  add_global_pool<nodes::GlobalMaxPool>(translators, "Max");
}

}  // namespace d5::tensorflow
