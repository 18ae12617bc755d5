// SPDX-License-Identifier: Apache-2.0
// Convolution and transposed convolution, 1 to 3 spatial dimensions.
#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "spatial_window.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// A window's filter in TensorFlow's form. Shapes: w M,C,kernel; result kernel,C,M. `channels`
/// names the last two dimensions: "io".
Term lifted_filter(Graph& graph, Term w, const SpatialWindow& window, const char* channels) {
  const std::size_t rank = graph.shape(w).rank();
  const Term filter = graph.reordered(w, filter_order(rank, channels));
  if (rank != 3) return filter;
  const Shape shape = graph.shape(filter);
  return graph.reshaped(filter, {1, window.kernel()[1], shape[1], shape[2]});
}

/// Inserts zeros between the filter's taps, for dilations that TensorFlow lacks. One dimension at a
/// time, as its operations take at most six.
Term stuffed(Graph& graph, Term filter, const Sizes& dilations) {
  for (std::size_t i = 0; i < dilations.size(); ++i) {
    if (dilations[i] == 1) continue;
    Shape shape = graph.shape(filter);
    const std::int64_t size = shape[i];
    const Term apart =
        graph.reshaped(filter, {shape.elements(0, i + 1), 1, shape.elements(i + 1, shape.rank())});
    const Term paddings = graph.reshaped(graph.integers({0, 0, 0, dilations[i] - 1, 0, 0}), {3, 2});
    shape[i] = size * dilations[i];
    const Term wide = graph.reshaped(graph.add("Pad", {apart, paddings}), shape);
    shape[i] = (size - 1) * dilations[i] + 1;
    filter = graph.add("Slice", {wide, graph.integers(Sizes(shape.rank(), 0)),
                                 graph.integers({shape.begin(), shape.end()})});
  }
  return filter;
}

/// Parts of equal size of `x` along its last dimension.
Terms parts(Graph& graph, Term x, std::int64_t count) {
  const Term first = graph.add("Split", {graph.integer(-1), x}, {{"num_split", count}});
  Terms result;
  for (int i = 0; i < count; ++i) result.push_back(tensorflow::result(first, i));
  return result;
}

/// TensorFlow's dilations and groups support only two dimensions, without a gradient. In other
/// cases the filter gets zeros between its taps, and each group is a separate convolution.
Term convolve(Graph& graph, Term x, Term filter, std::int64_t group, const SpatialWindow& window,
              bool differentiable) {
  const bool native = window.is_flat() && !differentiable;
  const std::size_t rank = window.kernel().size() + 2;
  const bool depthwise = group > 1 && graph.shape(filter)[rank - 2] == 1 && window.is_flat() &&
                         window.strides()[0] == window.strides()[1];
  const bool dilates = native && !depthwise;
  const Sizes ones(window.kernel().size(), 1);
  const auto call = [&](const char* type, Term input, Term taps) {
    return graph.add(type, {input, taps},
                     {{"strides", window.with_channels(window.strides())},
                      {"dilations", window.with_channels(dilates ? window.dilations() : ones)},
                      {"padding", "VALID"}});
  };
  const Term taps =
      window.is_dilated() && !dilates ? stuffed(graph, filter, window.dilations()) : filter;
  if (depthwise) {
    const Shape sizes = graph.shape(taps);
    const Shape by_channel{sizes[0], sizes[1], group, sizes[3] / group};
    return call("DepthwiseConv2dNative", x, graph.reshaped(taps, by_channel));
  }
  const char* const type = window.is_flat() ? "Conv2D" : "Conv3D";
  if (group == 1 || native) return call(type, x, taps);
  const Terms inputs = parts(graph, x, group), filters = parts(graph, taps, group);
  Terms outputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    outputs.push_back(call(type, inputs[i], filters[i]));
  }
  return graph.add("ConcatV2", {outputs, graph.integer(-1)});
}

/// Shapes: x N,C,spatial; w M,C/group,kernel; b M; y N,M,outputs.
Terms conv(const PlanContext& context, Graph& graph, const Terms& inputs) {
  using View = nodes::Conv;
  const View view(context.node());
  const auto kernel = context.shape(View::In::W).dims().subspan(2);
  const SpatialWindow window(WindowAttributes::of(view).resolve(
      context.shape(View::In::X), {kernel.begin(), kernel.end()}, context.who()));
  const Term x = window.padded(graph, window.lifted(graph, inputs[View::In::X]), 0);
  const Term filter = lifted_filter(graph, inputs[View::In::W], window, "io");
  Term y = convolve(graph, x, filter, view.group(), window, context.wants_backward());
  if (context.has_input(View::In::B)) y = graph.add("BiasAdd", {y, inputs[View::In::B]});
  return {window.lowered(graph, y)};
}

/// The gradient of a convolution for its input. Shapes: x N,C,spatial; w C,M,kernel; y N,M,outputs.
Terms conv_transpose(const PlanContext& context, Graph& graph, const Terms& inputs) {
  using View = nodes::ConvTranspose;
  const View view(context.node());
  if (view.group() != 1) {
    throw Unsupported(context.who() + ": TensorFlow has no transposed convolution in groups");
  }
  const auto kernel = context.shape(View::In::W).dims().subspan(2);
  const SpatialWindow window(WindowAttributes::of(view).resolve_transposed(
      context.shape(View::In::X), {kernel.begin(), kernel.end()}, context.who()));
  const Term x = window.lifted(graph, inputs[View::In::X]);
  Term filter = lifted_filter(graph, inputs[View::In::W], window, "oi");
  if (window.is_dilated()) filter = stuffed(graph, filter, window.dilations());
  Sizes sizes = {context.shape(View::In::X)[0]};
  sizes.insert(sizes.end(), window.padded_sizes().begin(), window.padded_sizes().end());
  sizes.push_back(context.shape(View::In::W)[1]);
  Term y = graph.add(window.is_flat() ? "Conv2DBackpropInput" : "Conv3DBackpropInputV2",
                     {graph.integers(sizes), filter, x},
                     {{"strides", window.with_channels(window.strides())}, {"padding", "VALID"}});
  y = window.unpadded(graph, y);
  if (context.has_input(View::In::B)) y = graph.add("BiasAdd", {y, inputs[View::In::B]});
  return {window.lowered(graph, y)};
}

}  // namespace

void register_conv(Translators& translators) {
  translators.add<nodes::Conv>(conv);
  translators.add("com.microsoft", "FusedConv", 1, with_activation(conv));
  translators.add<nodes::ConvTranspose>(conv_transpose);
}

}  // namespace d5::tensorflow
