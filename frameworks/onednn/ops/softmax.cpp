// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

constexpr auto kAlgorithm = dnnl::algorithm::softmax_accurate;
namespace nodes = onnx::nodes;

/// Along one axis; before opset 13, over all dimensions from the axis on together. LogSoftmax is
/// missing: oneDNN 2023's is wrong by up to 4e-6, and by 5e-6 with SSE4.1, since its logarithm is.
class Softmax final : public OneDnnKernel {
 public:
  explicit Softmax(PlanContext& context) : OneDnnKernel(context) {
    const Shape& shape = context.shape(0);
    const bool flattens = context.node().opset < 13;
    auto axis = int(shape.rank() == 0 ? 0
                                      : normalize_axis(nodes::Softmax(context.node()).axis(),
                                                       shape.rank(), context.who()));
    const auto type = data_type(context.dtype(0));
    Desc desc = rows(context.input(0));
    if (flattens && shape.rank() > 0) {
      desc = rows(
          {shape.elements(0, std::size_t(axis)), shape.elements(std::size_t(axis), shape.rank())},
          type);
      axis = 1;
    }
    using Forward = typename dnnl::softmax_forward::primitive_desc;
    using Backward = typename dnnl::softmax_backward::primitive_desc;
    const Forward forward(engine(), direction(), kAlgorithm, desc, desc, axis, attributes());
    forward_.add(forward, {{DNNL_ARG_SRC, input(0).as(desc)}},
                 {{DNNL_ARG_DST, output(0).as(desc)}});
    traits_ = {.backward_reads_inputs = {}, .backward_reads_outputs = {0}, .in_place_output = 0};
    if (!context.wants_grad(0)) return;
    const Backward backward(engine(), kAlgorithm, desc, desc, desc, axis, forward, attributes());
    backward_.add(
        backward,
        {{DNNL_ARG_DST, output(0).as(desc)}, {DNNL_ARG_DIFF_DST, grad_output(0).as(desc)}},
        {{DNNL_ARG_DIFF_SRC, grad_input(0).as(desc)}});
  }
};

}  // namespace

void register_softmax(OperatorRegistry& registry) {
  add<Softmax, nodes::Softmax>(registry, floats);
}

}  // namespace d5::onednn
