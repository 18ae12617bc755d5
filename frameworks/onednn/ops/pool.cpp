// SPDX-License-Identifier: Apache-2.0
// Pooling, 1 to 3 spatial dimensions; global pooling is a window over all of the input.
#include "d5/core/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"
#include "onednn_window.hpp"

namespace d5::onednn {
namespace {

using Algorithm = dnnl::algorithm;
namespace nodes = onnx::nodes;

template <class View>
OneDnnWindow window_of(const PlanContext& context) {
  const auto attributes = WindowAttributes::of(View(context.node()));
  return OneDnnWindow(attributes.resolve(context.shape(0), attributes.kernel(), context.who()));
}

/// Shapes: x N,C,spatial; y N,C,spatial. Indices of largest elements, MaxPool's second output, are
/// oneDNN's own within a window, and not ONNX's.
class Pool : public OneDnnKernel {
 public:
  Pool(PlanContext& context, Algorithm algorithm, const OneDnnWindow& w) : OneDnnKernel(context) {
    using Forward = dnnl::pooling_forward::primitive_desc;
    using Backward = dnnl::pooling_backward::primitive_desc;
    const Argument x = input_as_found(0);
    const Desc y = rows(context.output(0));
    const Forward forward(engine(), direction(), algorithm, x.desc, any(y), w.strides, w.kernel,
                          w.dilations, w.begin, w.end, attributes());
    std::vector<Pass::Bound> writes = {{DNNL_ARG_DST, output_in(0, forward.dst_desc())}};
    std::vector<Pass::Bound> reads = {{DNNL_ARG_DIFF_DST, grad_output(0)}};
    if (const Desc workspace = forward.workspace_desc(); workspace.get_size() > 0) {
      const Argument places = save(workspace);
      writes.push_back({DNNL_ARG_WORKSPACE, places});
      reads.push_back({DNNL_ARG_WORKSPACE, places});
    }
    forward_.add(forward, {{DNNL_ARG_SRC, x}}, writes);
    traits_.backward_reads_inputs = {};
    if (!context.wants_grad(0)) return;
    const Backward backward(engine(), algorithm, x.desc, y, w.strides, w.kernel, w.dilations,
                            w.begin, w.end, forward, attributes());
    backward_.add(backward, reads, {{DNNL_ARG_DIFF_SRC, grad_input(0)}});
  }
};

class MaxPool final : public Pool {
 public:
  explicit MaxPool(PlanContext& context)
      : Pool(context, Algorithm::pooling_max, window_of<nodes::MaxPool>(context)) {}

  static Support check(const PlanContext& context) {
    if (context.wants_output(1)) return {"indices of the largest elements"};
    return floats(context);
  }
};

class AveragePool final : public Pool {
 public:
  explicit AveragePool(PlanContext& context)
      : Pool(context, algorithm_of(context), window_of<nodes::AveragePool>(context)) {}

 private:
  static Algorithm algorithm_of(const PlanContext& context) {
    if (nodes::AveragePool(context.node()).count_include_pad() == 0) {
      return Algorithm::pooling_avg_exclude_padding;
    }
    if (window_of<nodes::AveragePool>(context).reaches_past) {
      throw Unsupported(context.who() + ": oneDNN counts what a window reads behind the padding");
    }
    return Algorithm::pooling_avg_include_padding;
  }
};

class GlobalPool final : public Pool {
 public:
  GlobalPool(PlanContext& context, Algorithm algorithm)
      : Pool(context, algorithm, OneDnnWindow(context.shape(0))) {}
};

}  // namespace

void register_pool(OperatorRegistry& registry) {
  add<MaxPool, nodes::MaxPool>(registry, MaxPool::check);
  add<AveragePool, nodes::AveragePool>(registry, floats);
  add<GlobalPool, nodes::GlobalMaxPool>(registry, floats, Algorithm::pooling_max);
  add<GlobalPool, nodes::GlobalAveragePool>(registry, floats,
                                            Algorithm::pooling_avg_exclude_padding);
}

}  // namespace d5::onednn
