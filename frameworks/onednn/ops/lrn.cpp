// SPDX-License-Identifier: Apache-2.0
// Local response normalization across channels.
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using LRNView = onnx::nodes::LRN;

/// Shapes: x and y N,C,d...
class Lrn final : public OneDnnKernel {
 public:
  explicit Lrn(PlanContext& context) : OneDnnKernel(context) {
    using Forward = dnnl::lrn_forward::primitive_desc;
    using Backward = dnnl::lrn_backward::primitive_desc;
    const LRNView view(context.node());
    const auto across = dnnl::algorithm::lrn_across_channels;
    const Argument x = input_as_found(0), y = output_in(0, x.desc);
    const Forward forward(engine(), direction(), across, x.desc, y.desc, view.size(), view.alpha(),
                          view.beta(), view.bias(), attributes());
    std::vector<Pass::Bound> reads = {{DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, grad_output(0)}};
    std::vector<Pass::Bound> writes = {{DNNL_ARG_DST, y}};
    if (const Desc workspace = forward.workspace_desc(); workspace.get_size() > 0) {
      const Argument between = save(workspace);
      writes.push_back({DNNL_ARG_WORKSPACE, between});
      reads.push_back({DNNL_ARG_WORKSPACE, between});
    }
    forward_.add(forward, {{DNNL_ARG_SRC, x}}, writes);
    if (!context.wants_grad(0)) return;
    const Backward backward(engine(), across, x.desc, y.desc, x.desc, view.size(), view.alpha(),
                            view.beta(), view.bias(), forward, attributes());
    backward_.add(backward, reads, {{DNNL_ARG_DIFF_SRC, grad_input(0)}});
  }
};

Support check(const PlanContext& context) {
  if (LRNView(context.node()).size() % 2 == 0)
    return {"a window of an even size, which is not centred"};
  return floats(context);
}

}  // namespace

void register_lrn(OperatorRegistry& registry) { add<Lrn, LRNView>(registry, check); }

}  // namespace d5::onednn
