// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using PReluView = onnx::nodes::PRelu;
using PReluIn = PReluView::In;

/// Shapes: the slope broadcasts to x.
class PRelu final : public OneDnnKernel {
 public:
  explicit PRelu(PlanContext& context) : OneDnnKernel(context) {
    using Forward = dnnl::prelu_forward::primitive_desc;
    using Backward = dnnl::prelu_backward::primitive_desc;
    const Argument x = input(PReluIn::X), y = output(0);
    const Argument slope =
        input(PReluIn::slope)
            .as(padded_rows(context.input(PReluIn::slope), context.shape(PReluIn::X).rank()));
    const Forward forward(engine(), direction(), x.desc, slope.desc, y.desc, attributes());
    forward_.add(forward, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, slope}}, {{DNNL_ARG_DST, y}});
    if (!context.wants_backward()) return;
    const Backward backward(engine(), x.desc, slope.desc, x.desc, slope.desc, y.desc, forward,
                            attributes());
    const auto gradient = [&](std::size_t i, const Desc& desc) {
      return context.wants_grad(i) ? grad_input(i).as(desc) : backward_.scratch(desc);
    };
    backward_.add(
        backward,
        {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, slope}, {DNNL_ARG_DIFF_DST, grad_output(0)}},
        {{DNNL_ARG_DIFF_SRC, gradient(PReluIn::X, x.desc)},
         {DNNL_ARG_DIFF_WEIGHTS, gradient(PReluIn::slope, slope.desc)}});
  }
};

}  // namespace

void register_prelu(OperatorRegistry& registry) { add<PRelu, PReluView>(registry, floats); }

}  // namespace d5::onednn
