// SPDX-License-Identifier: Apache-2.0
// The losses of classification, over scores N,C,spatial and labels N,spatial.
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// `log_probabilities` has the shape of the scores. `reduction` combines the losses of all samples.
template <class View>
Term loss_of(const PlanContext& context, Graph& graph, Term log_probabilities,
             const Terms& inputs) {
  const View view(context.node());
  const std::int64_t classes = context.shape(0)[1];
  const DType type = context.dtype(0);
  const Term rows = graph.reshaped(graph.channels_last(log_probabilities), {-1, classes});
  const Term labels = graph.reshaped(inputs[1], {-1});
  // An ignored label may be outside of the classes; its row is zero.
  const Term chosen = graph.add(
      "OneHot", {labels, graph.integer(classes), graph.number(1, type), graph.number(0, type)});
  const auto of_label = [&](Term x) {
    return graph.add("Sum", {graph.add("Mul", {chosen, x}), graph.integers({1})});
  };
  Term loss = graph.add("Neg", {of_label(rows)});
  Term weights = {}, classes_meant = labels;
  if (context.has_input(2)) weights = of_label(inputs[2]);
  if (view.ignore_index()) {
    const Term ignored = graph.constant(Tensor::scalar(*view.ignore_index()));
    const Term is_meant = graph.add("NotEqual", {graph.cast(labels, DType::int64), ignored});
    const Term counts = graph.cast(is_meant, type);
    weights = is_there(weights) ? graph.add("Mul", {weights, counts}) : counts;
    classes_meant = graph.add("SelectV2", {is_meant, labels, graph.number(0, labels)});
  }
  loss = graph.add("Mul", {loss, graph.ones_within(classes_meant, classes, type)});
  if (is_there(weights)) loss = graph.add("Mul", {loss, weights});
  const std::string reduction = view.reduction();
  if (reduction == "none") return graph.reshaped(loss, context.output(0).shape);
  const auto total = [&](Term x) { return graph.add("Sum", {x, graph.integers({0})}); };
  if (reduction == "sum") return total(loss);
  if (is_there(weights)) return graph.add("RealDiv", {total(loss), total(weights)});
  return graph.add("Mean", {loss, graph.integers({0})});
}

Terms softmax_cross_entropy(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const Term scores = graph.channels_last(inputs[0]);
  const Shape shape = graph.shape(scores);
  const Term rows = graph.add("LogSoftmax", {graph.reshaped(scores, {-1, shape.dims().back()})});
  const Term logs = graph.channels_first(graph.reshaped(rows, shape));
  return {loss_of<nodes::SoftmaxCrossEntropyLoss>(context, graph, logs, inputs), logs};
}

Terms negative_log_likelihood(const PlanContext& context, Graph& graph, const Terms& inputs) {
  return {loss_of<nodes::NegativeLogLikelihoodLoss>(context, graph, inputs[0], inputs)};
}

}  // namespace

void register_loss(Translators& translators) {
  translators.add<nodes::SoftmaxCrossEntropyLoss>(softmax_cross_entropy);
  translators.add<nodes::NegativeLogLikelihoodLoss>(negative_log_likelihood);
}

}  // namespace d5::tensorflow
