// SPDX-License-Identifier: Apache-2.0
// Operators that take, put and sort elements by position.
#include <algorithm>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// Converts negative indices, which count from the back, as TensorFlow has none. `sizes`: one
/// number, or one for each entry of the last dimension.
Term from_front(Graph& graph, Term indices, const Sizes& sizes) {
  if (graph.dtype(indices) == DType::uint64) {
    throw Unsupported(graph.who() + ": TensorFlow's kernel takes no indices of uint64");
  }
  const Term wide = graph.cast(indices, DType::int64);
  const Term size = sizes.size() == 1 ? graph.constant(Tensor::scalar(sizes[0]))
                                      : graph.constant(Tensor::vector(sizes));
  const Term negative = graph.add("Less", {wide, graph.number(0, wide)});
  return graph.add("SelectV2", {negative, graph.add("AddV2", {wide, size}), wide});
}

Terms gather(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const Shape& x = context.shape(0);
  const std::size_t axis =
      normalize_axis(nodes::Gather(context.node()).axis(), x.rank(), context.who());
  return {graph.add("GatherV2", {inputs[0], from_front(graph, inputs[1], {x[axis]}),
                                 graph.integer(std::int64_t(axis))})};
}

/// The leading sizes of `x` that rows of `indices` refer to.
Sizes named_sizes(const Shape& x, const Shape& indices, std::size_t first) {
  const auto count = std::size_t(indices.dims().back());
  const auto sizes = x.dims().subspan(first, count);
  return {sizes.begin(), sizes.end()};
}

Terms gather_nd(const PlanContext& context, Graph& graph, const Terms& inputs) {
  if (nodes::GatherND(context.node()).batch_dims() != 0) {
    throw Unsupported(context.who() + ": TensorFlow's GatherNd has no batch dimensions");
  }
  if (context.shape(0).elements() == 0) {
    throw Unsupported(context.who() + ": TensorFlow's GatherNd takes nothing from no elements");
  }
  const Sizes sizes = named_sizes(context.shape(0), context.shape(1), 0);
  return {graph.add("GatherNd", {inputs[0], from_front(graph, inputs[1], sizes)})};
}

/// Flat index in x for each element of `indices`: that index along `axis`, and the element's own
/// position along the other dimensions.
Term flat_places(const PlanContext& context, Graph& graph, Term indices, std::size_t axis) {
  const Shape &x = context.shape(0), &shape = context.shape(1);
  const auto strides = x.strides();
  Tensor base = Tensor::empty(DType::int64, shape);
  const auto values = base.span<std::int64_t>();
  const auto own = shape.strides();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      if (d != axis) values[i] += std::int64_t(i) / own[d] % shape[d] * strides[d];
    }
  }
  const Term along = graph.add("Mul", {from_front(graph, indices, {x[axis]}),
                                       graph.number(double(strides[axis]), DType::int64)});
  return graph.add("AddV2", {along, graph.constant(base)});
}

Terms gather_elements(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const std::size_t axis = normalize_axis(nodes::GatherElements(context.node()).axis(),
                                          context.shape(0).rank(), context.who());
  const Term places = flat_places(context, graph, inputs[1], axis);
  return {graph.add("GatherV2", {graph.reshaped(inputs[0], {-1}), places, graph.integer(0)})};
}

/// Writes `updates` into `x` at `places`, indices as in GatherNd. TensorFlow has a gradient only
/// for ScatterNd, which adds to zeros.
Term scattered(const PlanContext& context, Graph& graph, Term x, Term places, Term updates,
               const std::string& reduction) {
  const auto put = [&](const char* type, Term into, Term values) {
    return graph.add(type, {into, places, values});
  };
  if (reduction == "max") return put("TensorScatterMax", x, updates);
  if (reduction == "min") return put("TensorScatterMin", x, updates);
  if (reduction != "none" && reduction != "add") {
    throw Unsupported(context.who() + ": TensorFlow has no scatter with the reduction " +
                      reduction);
  }
  const bool adds = reduction == "add";
  if (!context.wants_backward()) {
    return put(adds ? "TensorScatterAdd" : "TensorScatterUpdate", x, updates);
  }
  const Shape shape = graph.shape(x);
  const Term sizes = graph.constant(Tensor::vector(Sizes(shape.begin(), shape.end())));
  const Term alone = graph.add("ScatterNd", {places, updates, sizes});
  if (adds) return graph.add("AddV2", {x, alone});
  const Term nothing = graph.add("ZerosLike", {x});
  const Term is_put = graph.add(
      "NotEqual", {put("TensorScatterUpdate", nothing, graph.add("OnesLike", {updates})), nothing});
  return graph.add("SelectV2", {is_put, alone, x});
}

template <class View>
Terms scatter_elements(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const View view(context.node());
  std::string reduction = "none";
  if constexpr (requires { view.reduction(); }) reduction = view.reduction();
  const Shape& x = context.shape(0);
  const std::size_t axis = normalize_axis(view.axis(), x.rank(), context.who());
  const Term places = flat_places(context, graph, inputs[1], axis);
  const Term y =
      scattered(context, graph, graph.reshaped(inputs[0], {-1}), graph.reshaped(places, {-1, 1}),
                graph.reshaped(inputs[2], {-1}), reduction);
  return {graph.reshaped(y, x)};
}

Terms scatter_nd(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const Sizes sizes = named_sizes(context.shape(0), context.shape(1), 0);
  return {scattered(context, graph, inputs[0], from_front(graph, inputs[1], sizes), inputs[2],
                    nodes::ScatterND(context.node()).reduction())};
}

/// TensorFlow's TopK works on the last dimension and the largest elements only.
Terms top_k(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const nodes::TopK view(context.node());
  const std::size_t rank = context.shape(0).rank();
  const std::size_t axis = normalize_axis(view.axis(), rank, context.who());
  const bool smallest = view.largest() == 0;
  if (smallest && !is_floating_point(context.dtype(0))) {
    throw Unsupported(context.who() + ": TensorFlow's TopK has no smallest integers");
  }
  const std::int64_t k =
      context.node().opset < 10 ? view.k() : told_integers(context, nodes::TopK::In::K).values()[0];
  Sizes swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[axis], swapped[rank - 1]);
  const auto moved = [&](Term x) { return axis + 1 == rank ? x : graph.transposed(x, swapped); };
  const auto signed_ = [&](Term x) { return smallest ? graph.add("Neg", {x}) : x; };
  const Term x = moved(inputs[0]);
  const Term first = graph.add("TopKV2", {signed_(x), graph.integer(k)});
  const Term places = graph.cast(result(first, 1), DType::int64);
  if (!context.wants_backward()) return {moved(signed_(first)), moved(places)};
  // TensorFlow has no gradient for this: the values are gathered again by their positions.
  const Shape shape = graph.shape(x);
  const std::int64_t size = shape.dims().back(), rows = shape.elements(0, rank - 1);
  Tensor begins = Tensor::empty(DType::int64, {rows, 1});
  for (std::int64_t row = 0; row < rows; ++row) {
    begins.span<std::int64_t>()[std::size_t(row)] = row * size;
  }
  const Term flat = graph.add("AddV2", {graph.reshaped(places, {rows, k}), graph.constant(begins)});
  const Term values = graph.add("GatherV2", {graph.reshaped(x, {-1}), flat, graph.integer(0)});
  Shape taken = shape;
  taken[rank - 1] = k;
  return {moved(graph.reshaped(values, taken)), moved(places)};
}

/// The two values are that for all other positions, and that for the index's.
Terms one_hot(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const Shape& y = context.output(0).shape;
  const std::int64_t axis = nodes::OneHot(context.node()).axis();
  if (!y.is_static()) {
    throw Unsupported(context.who() + ": TensorFlow's kernel requires a constant depth");
  }
  const std::size_t front = normalize_axis(axis, y.rank(), context.who());
  const auto value = [&](std::int64_t i) {
    return graph.reshaped(graph.add("Slice", {inputs[2], graph.integers({i}), graph.integers({1})}),
                          {});
  };
  return {graph.add(
      "OneHot",
      {from_front(graph, inputs[0], {y[front]}), graph.integer(y[front]), value(1), value(0)},
      {{"axis", front + 1 == y.rank() ? std::int64_t{-1} : std::int64_t(front)}})};
}

Terms cumulative_sum(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const nodes::CumSum view(context.node());
  const Term axis = graph.reshaped(inputs[nodes::CumSum::In::axis], {});
  return {graph.add("Cumsum", {inputs[0], axis},
                    {{"exclusive", view.exclusive() != 0}, {"reverse", view.reverse() != 0}})};
}

Terms cumulative_product(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const nodes::CumProd view(context.node());
  return {graph.add("Cumprod", {inputs[0], graph.reshaped(inputs[1], {})},
                    {{"exclusive", view.exclusive() != 0}, {"reverse", view.reverse() != 0}})};
}

Terms reverse_sequence(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const nodes::ReverseSequence view(context.node());
  const auto front = [&](std::int64_t axis) {
    return std::int64_t(normalize_axis(axis, context.shape(0).rank(), context.who()));
  };
  return {
      graph.add("ReverseSequence", {inputs[0], inputs[1]},
                {{"seq_dim", front(view.time_axis())}, {"batch_dim", front(view.batch_axis())}})};
}

/// The number of results depends on the condition's values.
Terms compress(const PlanContext& context, Graph& graph, const Terms& inputs) {
  auto axis = nodes::Compress(context.node()).axis();
  if (axis) axis = std::int64_t(normalize_axis(*axis, context.shape(0).rank(), context.who()));
  const Term places = graph.reshaped(graph.add("Where", {inputs[1]}), {-1});
  const Term x = axis ? inputs[0] : graph.reshaped(inputs[0], {-1});
  return {graph.add("GatherV2", {x, places, graph.integer(axis.value_or(0))})};
}

/// Sets elements below (above) the `k`th diagonal to zero.
Terms triangle(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const bool upper = nodes::Trilu(context.node()).upper() != 0;
  const auto dims = context.shape(0).dims();
  const Shape matrix{dims[dims.size() - 2], dims.back()};
  Tensor diagonals = Tensor::empty(DType::int64, matrix);
  for (std::int64_t i = 0, place = 0; i < matrix[0]; ++i) {
    for (std::int64_t j = 0; j < matrix[1]; ++j) {
      diagonals.span<std::int64_t>()[std::size_t(place++)] = j - i;
    }
  }
  const Term k = context.has_input(nodes::Trilu::In::k)
                     ? graph.reshaped(inputs[nodes::Trilu::In::k], {})
                     : graph.number(0, DType::int64);
  const Term kept = graph.add(upper ? "GreaterEqual" : "LessEqual", {graph.constant(diagonals), k});
  return {graph.add("SelectV2", {kept, inputs[0], graph.number(0, inputs[0])})};
}

Terms non_zero(const PlanContext& context, Graph& graph, const Terms& inputs) {
  if (context.shape(0).rank() == 0) {
    throw Unsupported(context.who() + ": TensorFlow finds no places in a scalar");
  }
  return {graph.transposed(graph.add("Where", {inputs[0]}), {1, 0})};
}

}  // namespace

void register_indexing(Translators& translators) {
  translators.add<nodes::Gather>(gather);
  translators.add<nodes::GatherND>(gather_nd);
  translators.add<nodes::GatherElements>(gather_elements);
  translators.add<nodes::Scatter>(scatter_elements<nodes::Scatter>);
  translators.add<nodes::ScatterElements>(scatter_elements<nodes::ScatterElements>);
  translators.add<nodes::ScatterND>(scatter_nd);
  translators.add<nodes::TopK>(top_k);
  translators.add<nodes::OneHot>(one_hot);
  translators.add<nodes::CumSum>(cumulative_sum);
  translators.add<nodes::CumProd>(cumulative_product);
  translators.add<nodes::ReverseSequence>(reverse_sequence);
  translators.add<nodes::Compress>(compress);
  translators.add<nodes::Trilu>(triangle);
  translators.add<nodes::NonZero>(non_zero);
}

}  // namespace d5::tensorflow
