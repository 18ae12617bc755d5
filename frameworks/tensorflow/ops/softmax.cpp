// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// Applies `function` to each line of `x` along `axis`. The lines are passed as the rows of a
/// matrix: TensorFlow's gradients use dimension 1 for the classes.
Term along(Graph& graph, Term x, std::size_t axis, Term (*function)(Graph&, Term)) {
  const std::size_t rank = graph.shape(x).rank();
  const auto by_rows = [&](Term lines) {
    const Shape shape = graph.shape(lines);
    const Term rows = graph.reshaped(lines, {-1, shape.dims().back()});
    return graph.reshaped(function(graph, rows), shape);
  };
  if (axis + 1 == rank) return by_rows(x);
  Sizes swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[axis], swapped[rank - 1]);
  return graph.transposed(by_rows(graph.transposed(x, swapped)), swapped);
}

Term hardmax(Graph& graph, Term x) {
  const std::int64_t size = graph.shape(x).dims().back();
  if (size == 0) return x;  // no largest is there
  return graph.add("OneHot", {graph.add("ArgMax", {x, graph.integer(-1)}), graph.integer(size),
                              graph.number(1, x), graph.number(0, x)});
}

/// `function` gets lines as the last dimension. Before opset 13 a line spans all dimensions from
/// `axis`.
template <class View>
void add_distribution(Translators& translators, Term (*function)(Graph&, Term)) {
  translators.add<View>(
      [function](const PlanContext& context, Graph& graph, const Terms& inputs) -> Terms {
        const Shape& shape = context.shape(0);
        const std::size_t axis =
            normalize_axis(View(context.node()).axis(), shape.rank(), context.who());
        if (context.node().opset >= 13) return {along(graph, inputs[0], axis, function)};
        const Shape matrix{shape.elements(0, axis), shape.elements(axis, shape.rank())};
        return {graph.reshaped(function(graph, graph.reshaped(inputs[0], matrix)), shape)};
      });
}

}  // namespace

void register_softmax(Translators& translators) {
  add_distribution<nodes::Softmax>(
      translators, +[](Graph& graph, Term x) { return graph.add("Softmax", {x}); });
  add_distribution<nodes::LogSoftmax>(
      translators, +[](Graph& graph, Term x) { return graph.add("LogSoftmax", {x}); });
  add_distribution<nodes::Hardmax>(translators, hardmax);
}

}  // namespace d5::tensorflow
