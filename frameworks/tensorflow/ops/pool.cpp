// SPDX-License-Identifier: Apache-2.0
// Pooling, 1 to 3 spatial dimensions.
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "spatial_window.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

template <class View>
SpatialWindow window_of(const PlanContext& context) {
  const auto attributes = WindowAttributes::of(View(context.node()));
  SpatialWindow window(attributes.resolve(context.shape(0), attributes.kernel(), context.who()));
  window.expect_no_dilation(context.who());
  return window;
}

/// `type` for two dimensions, `type3` for three, on `x` without padding.
Term pool(Graph& graph, const char* type, const char* type3, const SpatialWindow& window, Term x) {
  return graph.add(window.is_flat() ? type : type3, {x},
                   {{"ksize", window.with_channels(window.kernel())},
                    {"strides", window.with_channels(window.strides())},
                    {"padding", "VALID"}});
}

/// Lowest number of the type; ONNX pools only integers of 8 bits.
double lowest(DType dtype) {
  if (dtype == DType::uint8) return 0;
  if (dtype == DType::int8) return std::numeric_limits<std::int8_t>::lowest();
  return -std::numeric_limits<double>::infinity();
}

/// Shapes: x N,C,spatial; y N,C,outputs.
Terms max_pool(const PlanContext& context, Graph& graph, const Terms& inputs) {
  if (context.wants_output(nodes::MaxPool::Out::Indices)) {
    throw Unsupported(context.who() + ": TensorFlow's kernel gives no indices");
  }
  const SpatialWindow window = window_of<nodes::MaxPool>(context);
  if (window.may_miss_the_input()) {
    throw Unsupported(context.who() +
                      ": a window may cover only padding, of which TensorFlow's maximum is finite");
  }
  const Term x = window.padded(graph, window.lifted(graph, inputs[0]), lowest(context.dtype(0)));
  return {window.lowered(graph, pool(graph, "MaxPool", "MaxPool3D", window, x))};
}

/// The sum under each window, divided by the number of its elements that count.
Terms average_pool(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const SpatialWindow window = window_of<nodes::AveragePool>(context);
  const bool counts_padding = nodes::AveragePool(context.node()).count_include_pad() != 0;
  const Term x = window.padded(graph, window.lifted(graph, inputs[0]), 0);
  Term y = pool(graph, "AvgPool", "AvgPool3D", window, x);
  const Tensor shares = window.shares(counts_padding);
  if (shares.defined()) {
    y = graph.add("Mul", {y, graph.cast(graph.constant(shares), context.dtype(0))});
  }
  return {window.lowered(graph, y)};
}

}  // namespace

void register_pool(Translators& translators) {
  translators.add<nodes::MaxPool>(max_pool);
  translators.add<nodes::AveragePool>(average_pool);
}

}  // namespace d5::tensorflow
