// SPDX-License-Identifier: Apache-2.0
// Convolution and its transpose, 1 to 3 spatial dimensions.
#include <numeric>

#include "d5/onnx/nodes.hpp"
#include "fused_activation.hpp"
#include "onednn_kernel.hpp"
#include "onednn_window.hpp"

namespace d5::onednn {
namespace {

using Conv = onnx::nodes::Conv;
using ConvTranspose = onnx::nodes::ConvTranspose;
using ConvIn = Conv::In;  // for both operators

/// Shapes: x N,C,spatial; w M,C/group,kernel; b M; y N,M,spatial.
struct Forward {
  using ForwardDesc = dnnl::convolution_forward::primitive_desc;
  using DataDesc = dnnl::convolution_backward_data::primitive_desc;
  using WeightsDesc = dnnl::convolution_backward_weights::primitive_desc;
  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_auto;

  static OneDnnWindow window(const PlanContext& context) {
    return OneDnnWindow::of_convolution(Conv(context.node()), context.shape(ConvIn::X),
                                        context.shape(ConvIn::W));
  }
  static Desc weights(const PlanContext& context) {
    return grouped(context.input(ConvIn::W), Conv(context.node()).group());
  }
};

/// Shapes: x N,C,spatial; w C,M/group,kernel; b M; y N,M,spatial.
struct Transposed {
  using ForwardDesc = dnnl::deconvolution_forward::primitive_desc;
  using DataDesc = dnnl::deconvolution_backward_data::primitive_desc;
  using WeightsDesc = dnnl::deconvolution_backward_weights::primitive_desc;
  static constexpr auto kAlgorithm = dnnl::algorithm::deconvolution_direct;

  static OneDnnWindow window(const PlanContext& context) {
    const auto kernel = context.shape(ConvIn::W).dims().subspan(2);
    return OneDnnWindow(WindowAttributes::of(ConvTranspose(context.node()))
                            .resolve_transposed(context.shape(ConvIn::X),
                                                {kernel.begin(), kernel.end()}, context.who()));
  }
  static Desc weights(const PlanContext& context) {
    const std::int64_t group = ConvTranspose(context.node()).group();
    const Desc stored = grouped(context.input(ConvIn::W), group);
    std::vector<int> order(std::size_t(stored.get_ndims()));
    std::iota(order.begin(), order.end(), 0);
    const std::size_t first = group == 1 ? 0 : 1;
    std::swap(order[first], order[first + 1]);
    return stored.permute_axes(order);
  }
};

template <class Direction>
class Convolution final : public OneDnnKernel {
 public:
  explicit Convolution(PlanContext& context)
      : OneDnnKernel(context),
        activation_(context),
        window_(Direction::window(context)),
        x_(rows(context.input(ConvIn::X))),
        weights_(Direction::weights(context)),
        y_(rows(context.output(0))) {
    const ForwardDesc forward = forward_desc();
    std::vector<Pass::Bound> reads = {
        {DNNL_ARG_SRC, input_in(ConvIn::X, x_, forward.src_desc())},
        {DNNL_ARG_WEIGHTS, input_in(ConvIn::W, weights_, forward.weights_desc())}};
    if (context.has_input(ConvIn::B)) reads.push_back({DNNL_ARG_BIAS, input(ConvIn::B)});
    if (context.has_input(kZ)) {
      const int name = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
      reads.push_back({name, input_in(kZ, y_, forward.query_md(dnnl::query::exec_arg_md, name))});
    }
    forward_.add(forward, reads, {{DNNL_ARG_DST, output_in(0, forward.dst_desc())}});
    traits_ = {.backward_reads_inputs = {ConvIn::X, ConvIn::W},
               .backward_reads_outputs = activation_.reads()};
    if (!context.wants_backward()) return;
    const Argument dy = activation_.differentiate(backward_, output(0), grad_output(0));
    if (context.wants_grad(kZ)) backward_.reorder(dy, grad_input(kZ));
    if (context.wants_grad(ConvIn::X)) add_backward_data(forward, dy);
    if (context.wants_grad(ConvIn::W) || context.wants_grad(ConvIn::B))
      add_backward_weights(forward, dy);
  }

 private:
  using ForwardDesc = typename Direction::ForwardDesc;
  using DataDesc = typename Direction::DataDesc;
  using WeightsDesc = typename Direction::WeightsDesc;
  static constexpr auto kAlgorithm = Direction::kAlgorithm;
  static constexpr std::size_t kZ = 3;  ///< FusedConv's operand that is added before the activation

  [[nodiscard]] ForwardDesc forward_desc() const {
    dnnl::post_ops behind;
    if (context().has_input(kZ)) behind.append_binary(dnnl::algorithm::binary_add, any(y_));
    activation_.append_to(behind);
    const Desc bias = context().has_input(ConvIn::B) ? rows(context().input(ConvIn::B)) : Desc();
    return ForwardDesc(engine(), direction(), kAlgorithm, any(x_), any(weights_), bias, any(y_),
                       window_.strides, window_.dilations, window_.begin, window_.end,
                       attributes(behind));
  }

  void add_backward_data(const ForwardDesc& forward, const Argument& dy) {
    const DataDesc backward(engine(), kAlgorithm, any(x_), any(weights_), any(y_), window_.strides,
                            window_.dilations, window_.begin, window_.end, forward, attributes());
    backward_.add(backward,
                  {{DNNL_ARG_WEIGHTS, input(ConvIn::W).as(weights_)}, {DNNL_ARG_DIFF_DST, dy}},
                  {{DNNL_ARG_DIFF_SRC, grad_input(ConvIn::X)}});
  }

  /// Includes the bias, which oneDNN sums along the way.
  void add_backward_weights(const ForwardDesc& forward, const Argument& dy) {
    const bool by_bias = context().wants_grad(ConvIn::B);
    const Desc bias = by_bias ? rows(context().input(ConvIn::B)) : Desc();
    const WeightsDesc backward(engine(), kAlgorithm, any(x_), any(weights_), bias, any(y_),
                               window_.strides, window_.dilations, window_.begin, window_.end,
                               forward, attributes());
    const Argument dw = context().wants_grad(ConvIn::W)
                            ? grad_input(ConvIn::W).as(weights_)
                            : backward_.scratch(backward.diff_weights_desc());
    std::vector<Pass::Bound> writes = {{DNNL_ARG_DIFF_WEIGHTS, dw}};
    if (by_bias) writes.push_back({DNNL_ARG_DIFF_BIAS, grad_input(ConvIn::B)});
    backward_.add(backward, {{DNNL_ARG_SRC, input(ConvIn::X)}, {DNNL_ARG_DIFF_DST, dy}}, writes);
  }

  FusedActivation activation_;
  OneDnnWindow window_;
  Desc x_, weights_, y_;
};

/// Refuses the gradient of a single input channel: oneDNN 3.2 pads it to 16, or uses products whose
/// columns it sums on one core, and takes several times as long as the reference, which a mixed
/// plan tries next. Forward, and gradients of weights, are fast.
Support but_for_lone_channels(const PlanContext& context) {
  if (Support support = floats(context); !support) return support;
  const bool is_lone = context.shape(ConvIn::X)[1] == 1 && context.shape(ConvIn::W)[0] > 1;
  if (!is_lone || !context.wants_grad(ConvIn::X)) return {};
  return {
      "the gradient of a single input channel, which is several times slower than in the "
      "reference; combine them, onednn+reference"};
}

}  // namespace

void register_conv(OperatorRegistry& registry) {
  add<Convolution<Forward>, Conv>(registry, but_for_lone_channels);
  add<Convolution<Forward>>(registry, "FusedConv", {.domain = "com.microsoft"},
                            but_for_lone_channels);
  add<Convolution<Transposed>, ConvTranspose>(registry, floats);
}

}  // namespace d5::onednn
