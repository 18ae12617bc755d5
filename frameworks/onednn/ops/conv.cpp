// SPDX-License-Identifier: Apache-2.0
// Convolution, 1 to 3 spatial dimensions.
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"
#include "onednn_window.hpp"

namespace d5::onednn {
namespace {

using View = onnx::nodes::Conv;
using Algorithm = dnnl::algorithm;

OneDnnWindow window_of(const PlanContext& context) {
  const auto kernel = context.shape(View::In::W).dims().subspan(2);
  return OneDnnWindow(
      WindowAttributes::of(View(context.node()))
          .resolve(context.shape(View::In::X), {kernel.begin(), kernel.end()}, context.who()));
}

/// Shapes: x N,C,spatial; w M,C/group,kernel; b M; y N,M,spatial.
class Conv final : public OneDnnKernel {
 public:
  explicit Conv(PlanContext& context)
      : OneDnnKernel(context),
        window_(window_of(context)),
        weights_(grouped(rows(context.input(View::In::W)))) {
    const bool has_bias = context.has_input(View::In::B);
    const Desc x = rows(context.input(View::In::X)), y = rows(context.output(0));
    const auto forward = [&] {
      using Forward = dnnl::convolution_forward::primitive_desc;
      const auto all = attributes();
      if (!has_bias) {
        return Forward(engine(), direction(), Algorithm::convolution_auto, any(x), any(weights_),
                       any(y), window_.strides, window_.dilations, window_.begin, window_.end, all);
      }
      return Forward(engine(), direction(), Algorithm::convolution_auto, any(x), any(weights_),
                     rows(context.input(View::In::B)), any(y), window_.strides, window_.dilations,
                     window_.begin, window_.end, all);
    }();
    std::vector<Pass::Bound> reads = {{DNNL_ARG_SRC, input(View::In::X)},
                                      {DNNL_ARG_WEIGHTS, input(View::In::W).as(weights_)}};
    if (has_bias) reads.push_back({DNNL_ARG_BIAS, input(View::In::B)});
    forward_.add(forward, reads, {{DNNL_ARG_DST, output(0)}});
    if (context.wants_grad(View::In::X)) add_backward_data(forward, x, y);
    if (context.wants_grad(View::In::W) || context.wants_grad(View::In::B)) {
      add_backward_weights(forward, x, y);
    }
    traits_.backward_reads_inputs = {View::In::X, View::In::W};
  }

 private:
  using Hint = dnnl::convolution_forward::primitive_desc;

  /// w as group,M/group,C/group,kernel
  [[nodiscard]] Desc grouped(const Desc& w) const {
    const std::int64_t group = View(context().node()).group();
    if (group == 1) return w;
    Dims dims = w.get_dims();
    dims[0] /= group;
    dims.insert(dims.begin(), group);
    return rows(dims, w.get_data_type());
  }

  void add_backward_data(const Hint& forward, const Desc& x, const Desc& y) {
    const dnnl::convolution_backward_data::primitive_desc backward(
        engine(), Algorithm::convolution_auto, any(x), any(weights_), any(y), window_.strides,
        window_.dilations, window_.begin, window_.end, forward, attributes());
    backward_.add(
        backward,
        {{DNNL_ARG_WEIGHTS, input(View::In::W).as(weights_)}, {DNNL_ARG_DIFF_DST, grad_output(0)}},
        {{DNNL_ARG_DIFF_SRC, grad_input(View::In::X)}});
  }

  /// By bias, too: oneDNN sums it up on the way.
  void add_backward_weights(const Hint& forward, const Desc& x, const Desc& y) {
    using Backward = dnnl::convolution_backward_weights::primitive_desc;
    const bool by_bias = context().wants_grad(View::In::B);
    const auto all = attributes();
    const Backward backward =
        by_bias ? Backward(engine(), Algorithm::convolution_auto, any(x), any(weights_),
                           rows(context().input(View::In::B)), any(y), window_.strides,
                           window_.dilations, window_.begin, window_.end, forward, all)
                : Backward(engine(), Algorithm::convolution_auto, any(x), any(weights_), any(y),
                           window_.strides, window_.dilations, window_.begin, window_.end, forward,
                           all);
    const Argument dw = context().wants_grad(View::In::W)
                            ? grad_input(View::In::W).as(weights_)
                            : backward_.scratch(backward.diff_weights_desc());
    std::vector<Pass::Bound> writes = {{DNNL_ARG_DIFF_WEIGHTS, dw}};
    if (by_bias) writes.push_back({DNNL_ARG_DIFF_BIAS, grad_input(View::In::B)});
    backward_.add(backward,
                  {{DNNL_ARG_SRC, input(View::In::X)}, {DNNL_ARG_DIFF_DST, grad_output(0)}},
                  writes);
  }

  OneDnnWindow window_;
  Desc weights_;
};

}  // namespace

void register_conv(OperatorRegistry& registry) { add<Conv, View>(registry, floats); }

}  // namespace d5::onednn
