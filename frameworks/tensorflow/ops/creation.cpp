// SPDX-License-Identifier: Apache-2.0
// Operators whose outputs depend on no element of a tensor.
#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

Terms constant(const PlanContext& context, Graph& graph, const Terms&) {
  const nodes::Constant view(context.node());
  if (view.value()) return {graph.constant(*view.value())};
  if (view.value_float()) return {graph.constant(Tensor::scalar(*view.value_float()))};
  if (view.value_floats()) return {graph.constant(Tensor::vector(*view.value_floats()))};
  if (view.value_int()) return {graph.constant(Tensor::scalar(*view.value_int()))};
  if (view.value_ints()) return {graph.constant(Tensor::vector(*view.value_ints()))};
  throw Unsupported(context.who() + ": TensorFlow's kernel has only numeric constants");
}

Terms constant_of_shape(const PlanContext& context, Graph& graph, const Terms&) {
  const Shape& shape = context.output(0).shape;
  if (!shape.is_static()) {
    throw Unsupported(context.who() + ": TensorFlow's kernel requires a constant shape");
  }
  const auto value = nodes::ConstantOfShape(context.node()).value();
  const Term element =
      value ? graph.reshaped(graph.constant(*value), {}) : graph.number(0, context.output(0).dtype);
  return {graph.add("Fill", {graph.integers({shape.begin(), shape.end()}), element})};
}

Terms shape(const PlanContext& context, Graph& graph, const Terms&) {
  const nodes::Shape view(context.node());
  const Shape& x = context.shape(0);
  const auto rank = std::int64_t(x.rank());
  const auto clamped = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = clamped(view.start()), end = clamped(view.end().value_or(rank));
  return {
      graph.constant(Tensor::vector(Sizes(x.begin() + begin, x.begin() + std::max(begin, end))))};
}

Terms size(const PlanContext& context, Graph& graph, const Terms&) {
  return {graph.constant(Tensor::scalar(context.shape(0).elements()))};
}

Terms range(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const TensorDesc& y = context.output(0);
  if (y.shape.is_static() && y.elements() == 0) return {graph.constant(Tensor::empty(y))};
  const auto scalar = [&](std::size_t i) { return graph.reshaped(inputs[i], {}); };
  return {graph.add("Range", {scalar(0), scalar(1), scalar(2)})};
}

}  // namespace

void register_creation(Translators& translators) {
  translators.add<nodes::Constant>(constant);
  translators.add<nodes::ConstantOfShape>(constant_of_shape);
  translators.add<nodes::Shape>(shape);
  translators.add<nodes::Size>(size);
  translators.add<nodes::Range>(range);
}

}  // namespace d5::tensorflow
