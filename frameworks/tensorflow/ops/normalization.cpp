// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/row_scale.hpp"
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// Mean and variance over some dimensions, which are kept with size 1.
struct Moments {
  Term mean, variance;
};
Moments moments(Graph& graph, Term x, const Sizes& axes) {
  const Term over = graph.integers(axes);
  const auto mean = [&](Term t) { return graph.add("Mean", {t, over}, {{"keep_dims", true}}); };
  const Term center = mean(x);
  return {center, mean(graph.add("Square", {graph.add("Sub", {x, center})}))};
}

Term inverse_deviation(Graph& graph, Term variance, double epsilon) {
  return graph.add("Rsqrt", {graph.add("AddV2", {variance, graph.number(epsilon, variance)})});
}

/// (x - mean) * inverse * scale + shift
Term normalized(Graph& graph, Term x, Term mean, Term inverse, Term scale, Term shift) {
  const Term y =
      graph.add("Mul", {graph.add("Sub", {x, mean}), graph.add("Mul", {inverse, scale})});
  return is_there(shift) ? graph.add("AddV2", {y, shift}) : y;
}

Sizes from_axis(std::size_t axis, std::size_t rank) {
  Sizes axes(rank - axis);
  std::iota(axes.begin(), axes.end(), std::int64_t(axis));
  return axes;
}

/// Reshapes a tensor of C elements to broadcast to N,C,spatial.
Term along_channels(Graph& graph, Term x, std::size_t rank) {
  Sizes sizes(rank, 1);
  sizes[rank > 1 ? 1 : 0] = -1;
  return graph.reshaped(x, Shape(sizes));
}

/// momentum old + (1 - momentum) new
Term running(Graph& graph, Term old, Term fresh, double momentum) {
  const auto scaled = [&](Term x, double by) { return graph.add("Mul", {x, graph.number(by, x)}); };
  return graph.add("AddV2", {scaled(old, momentum), scaled(fresh, 1 - momentum)});
}

bool normalizes_with_batch(const PlanContext& context) {
  const nodes::BatchNormalization view(context.node());
  if (context.node().opset >= 14) return view.training_mode() != 0;
  const bool trains = context.node().opset < 7 ? view.is_test() == 0 : context.output_count() > 1;
  if (trains || (context.node().opset < 9 && view.spatial() == 0)) {
    throw Unsupported(context.who() +
                      ": TensorFlow's kernel has no training, nor statistics of "
                      "single places, of opsets before 14");
  }
  return false;
}

/// Uses TensorFlow's fused operation, channels last, for four dimensions and its types.
Terms fused_batch_normalization(const PlanContext& context, Graph& graph, const Terms& inputs,
                                bool batch) {
  using In = nodes::BatchNormalization::In;
  const nodes::BatchNormalization view(context.node());
  const Term y =
      graph.add("FusedBatchNormV3",
                {graph.channels_last(inputs[In::X]), inputs[In::scale], inputs[In::B],
                 batch ? graph.constant(Tensor::zeros(DType::float32, {0})) : inputs[In::mean],
                 batch ? graph.constant(Tensor::zeros(DType::float32, {0})) : inputs[In::var]},
                {{"epsilon", view.epsilon()}, {"is_training", batch}});
  Terms outputs = {graph.channels_first(y)};
  if (!batch) return outputs;
  const Shape& x = context.shape(In::X);
  const auto count = double(x.elements() / std::max<std::int64_t>(x[1], 1));
  const Term variance = result(y, 2);  // TensorFlow divides by one less
  const Term biased =
      graph.add("Mul", {variance, graph.number(std::max(count - 1, 1.0) / count, variance)});
  outputs.push_back(running(graph, inputs[In::mean], result(y, 1), view.momentum()));
  outputs.push_back(running(graph, inputs[In::var], biased, view.momentum()));
  return outputs;
}

/// Shapes: x N,C,spatial; scale, B, mean, var C; y as x.
Terms batch_normalization(const PlanContext& context, Graph& graph, const Terms& inputs) {
  using In = nodes::BatchNormalization::In;
  const bool batch = normalizes_with_batch(context);
  const auto all_float = [&] {
    for (std::size_t i = 0; i < 5; ++i) {
      if (context.dtype(i) != DType::float32) return false;
    }
    return true;
  };
  const std::size_t rank = context.shape(In::X).rank();
  if (rank == 4 && all_float()) return fused_batch_normalization(context, graph, inputs, batch);
  const nodes::BatchNormalization view(context.node());
  const DType type = context.dtype(In::X), wide = context.dtype(In::mean);
  const Term x = graph.cast(inputs[In::X], wide);
  const auto channels = [&](std::size_t i) {
    return along_channels(graph, graph.cast(inputs[i], wide), rank);
  };
  Moments of{};
  if (batch) {
    Sizes axes = {0};
    for (std::size_t i = 2; i < rank; ++i) axes.push_back(std::int64_t(i));
    of = moments(graph, x, axes);
  } else {
    of = {channels(In::mean), channels(In::var)};
  }
  const Term y =
      normalized(graph, x, of.mean, inverse_deviation(graph, of.variance, view.epsilon()),
                 channels(In::scale), channels(In::B));
  Terms outputs = {graph.cast(y, type)};
  if (!batch) return outputs;
  const Shape& sizes = context.shape(In::mean);
  outputs.push_back(
      running(graph, inputs[In::mean], graph.reshaped(of.mean, sizes), view.momentum()));
  outputs.push_back(
      running(graph, inputs[In::var], graph.reshaped(of.variance, sizes), view.momentum()));
  return outputs;
}

/// Normalization of rows: all dimensions from `axis` on.
class Rows {
 public:
  Rows(const PlanContext& context, Graph& graph, const Terms& inputs, std::int64_t axis)
      : context_(context), graph_(graph), inputs_(inputs) {
    const std::size_t rank = context.shape(0).rank();
    first_ = normalize_axis(axis, rank, context.who());
    axes_ = from_axis(first_, rank);
    const bool doubles = context.dtype(0) == DType::float64 || context.dtype(1) == DType::float64;
    wide_ = doubles ? DType::float64 : DType::float32;
  }
  [[nodiscard]] const Sizes& axes() const { return axes_; }
  [[nodiscard]] Term x() const { return graph_.cast(inputs_[0], wide_); }
  [[nodiscard]] Term scales(std::size_t i) const {
    return graph_.reshaped(graph_.cast(inputs_[i], wide_), row_scale(context_, i, first_).shape);
  }

 private:
  const PlanContext& context_;
  Graph& graph_;
  const Terms& inputs_;
  std::size_t first_;
  Sizes axes_;
  DType wide_;  ///< type of sums and all later values except results
};

Terms layer_normalization(const PlanContext& context, Graph& graph, const Terms& inputs) {
  using View = nodes::LayerNormalization;
  const View view(context.node());
  const Rows rows(context, graph, inputs, view.axis());
  const Term x = rows.x();
  const auto [mean, variance] = moments(graph, x, rows.axes());
  const Term inverse = inverse_deviation(graph, variance, view.epsilon());
  const Term y = normalized(graph, x, mean, inverse, rows.scales(View::In::Scale),
                            context.has_input(View::In::B) ? rows.scales(View::In::B) : Term{});
  Terms outputs = {y, mean, inverse};
  outputs.resize(context.output_count());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (context.wants_output(k)) outputs[k] = graph.cast(outputs[k], context.output(k).dtype);
  }
  return outputs;
}

Terms rms_normalization(const PlanContext& context, Graph& graph, const Terms& inputs) {
  using View = nodes::RMSNormalization;
  const View view(context.node());
  const Rows rows(context, graph, inputs, view.axis());
  const Term x = rows.x();
  const Term square = graph.add("Mean", {graph.add("Square", {x}), graph.integers(rows.axes())},
                                {{"keep_dims", true}});
  const Term plain = graph.add("Mul", {x, inverse_deviation(graph, square, view.epsilon())});
  const Term y = graph.add("Mul", {plain, rows.scales(View::In::scale)});
  return {graph.cast(y, context.output(0).dtype)};
}

Terms instance_normalization(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const nodes::InstanceNormalization view(context.node());
  const std::size_t rank = context.shape(0).rank();
  const auto [mean, variance] = moments(graph, inputs[0], from_axis(2, rank));
  return {normalized(graph, inputs[0], mean, inverse_deviation(graph, variance, view.epsilon()),
                     along_channels(graph, inputs[1], rank),
                     along_channels(graph, inputs[2], rank))};
}

/// Scale and bias are per channel; before opset 21, per group.
Terms group_normalization(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const nodes::GroupNormalization view(context.node());
  const Shape& shape = context.shape(0);
  const std::int64_t groups = view.num_groups();
  const Shape grouped{shape[0], groups,
                      shape.elements() / std::max<std::int64_t>(shape[0] * groups, 1)};
  const Term x = graph.reshaped(inputs[0], grouped);
  const auto [mean, variance] = moments(graph, x, {2});
  const Term inverse = inverse_deviation(graph, variance, view.epsilon());
  if (context.node().opset < 21) {
    const Term y = normalized(graph, x, mean, inverse, along_channels(graph, inputs[1], 3),
                              along_channels(graph, inputs[2], 3));
    return {graph.reshaped(y, shape)};
  }
  const Term plain = graph.add("Mul", {graph.add("Sub", {x, mean}), inverse});
  const Term scale = along_channels(graph, inputs[1], shape.rank());
  const Term bias = along_channels(graph, inputs[2], shape.rank());
  return {graph.add("AddV2", {graph.add("Mul", {graph.reshaped(plain, shape), scale}), bias})};
}

/// The mean of `size` numbers around each element along the last dimension, with zeros outside.
Term mean_around(Graph& graph, Term x, std::int64_t size) {
  const Shape shape = graph.shape(x);
  const std::int64_t last = shape.dims().back(), before = (size - 1) / 2;
  const Term paddings =
      graph.reshaped(graph.integers({0, 0, 0, 0, before, size - 1 - before, 0, 0}), {4, 2});
  const Term lines = graph.add("Pad", {graph.reshaped(x, {-1, 1, last, 1}), paddings});
  const Term means = graph.add(
      "AvgPool", {lines},
      {{"ksize", Sizes{1, 1, size, 1}}, {"strides", Sizes{1, 1, 1, 1}}, {"padding", "VALID"}});
  return graph.reshaped(means, shape);
}

/// y = x / (bias + alpha mean of x^2 over `size` channels around)^beta. TensorFlow's own operation
/// has only odd sizes, no float64, and a gradient for another size.
Terms local_response(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const nodes::LRN view(context.node());
  const std::int64_t size = view.size();
  const Term x = graph.channels_last(inputs[0]);
  const bool odd = size % 2 != 0 && size > 0;
  if (odd && !context.wants_backward() && context.dtype(0) == DType::float32 &&
      context.shape(0).rank() == 4) {
    const Term y = graph.add("LRN", {x},
                             {{"depth_radius", (size - 1) / 2},
                              {"bias", view.bias()},
                              {"alpha", view.alpha() / float(size)},
                              {"beta", view.beta()}});
    return {graph.channels_first(y)};
  }
  if (size > 2 * context.shape(0)[1]) {
    throw Unsupported(context.who() +
                      ": TensorFlow does not support a size above twice the channels");
  }
  const auto number = [&](double value) { return graph.number(value, x); };
  const Term around = mean_around(graph, graph.add("Square", {x}), size);
  const Term base =
      graph.add("AddV2", {graph.add("Mul", {around, number(view.alpha())}), number(view.bias())});
  return {
      graph.channels_first(graph.add("Mul", {x, graph.add("Pow", {base, number(-view.beta())})}))};
}

}  // namespace

void register_normalization(Translators& translators) {
  translators.add<nodes::BatchNormalization>(batch_normalization);
  translators.add<nodes::LayerNormalization>(layer_normalization);
  translators.add<nodes::RMSNormalization>(rms_normalization);
  translators.add<nodes::InstanceNormalization>(instance_normalization);
  translators.add<nodes::GroupNormalization>(group_normalization);
  translators.add<nodes::LRN>(local_response);
}

}  // namespace d5::tensorflow
