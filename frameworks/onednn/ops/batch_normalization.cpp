// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using BatchNormalizationView = onnx::nodes::BatchNormalization;
using Flags = dnnl::normalization_flags;

/// Shapes: x N,C,d...; all statistics C, in float32.
class BatchNormalization final : public OneDnnKernel {
 public:
  explicit BatchNormalization(PlanContext& context) : OneDnnKernel(context) {
    const BatchNormalizationView view(context.node());
    const bool trains = view.training_mode() != 0;
    const Flags flags =
        Flags::use_scale | Flags::use_shift | (trains ? Flags::none : Flags::use_global_stats);
    const Argument x = input_as_found(In::X), y = output_in(Out::Y, x.desc);
    const Forward forward(engine(), trains ? dnnl::prop_kind::forward_training : direction(),
                          x.desc, y.desc, view.epsilon(), flags, attributes());
    std::vector<Pass::Bound> reads = {
        {DNNL_ARG_SRC, x}, {DNNL_ARG_SCALE, input(In::scale)}, {DNNL_ARG_SHIFT, input(In::B)}};
    std::vector<Pass::Bound> writes = {{DNNL_ARG_DST, y}};
    Argument mean = input(In::input_mean), variance = input(In::input_var);
    if (trains) {
      mean = statistics(forward.mean_desc());
      variance = statistics(forward.variance_desc());
    }
    auto& side = trains ? writes : reads;
    side.push_back({DNNL_ARG_MEAN, mean});
    side.push_back({DNNL_ARG_VARIANCE, variance});
    forward_.add(forward, reads, writes);
    if (context.wants_output(Out::running_mean)) {
      add_running(In::input_mean, mean, Out::running_mean, view.momentum());
    }
    if (context.wants_output(Out::running_var)) {
      add_running(In::input_var, variance, Out::running_var, view.momentum());
    }
    traits_.backward_reads_inputs = {In::X, In::scale};
    if (!trains) traits_.backward_reads_inputs = {In::X, In::scale, In::input_mean, In::input_var};
    if (!context.wants_backward()) {
      traits_.in_place_output = 0;
    } else {
      add_backward(forward, view.epsilon(), flags, mean, variance);
    }
  }

 private:
  using In = BatchNormalizationView::In;
  using Out = BatchNormalizationView::Out;
  using Forward = dnnl::batch_normalization_forward::primitive_desc;
  using Backward = dnnl::batch_normalization_backward::primitive_desc;

  /// Statistics of the batch, which backward reads.
  Argument statistics(const Desc& desc) {
    return context().wants_backward() ? save(desc) : forward_.scratch(desc);
  }

  /// Updates the running statistics with the batch's.
  void add_running(std::size_t i, const Argument& batch, std::size_t k, float momentum) {
    const dnnl::sum::primitive_desc sum(engine(), rows(context().output(k)),
                                        {momentum, 1 - momentum},
                                        {rows(context().input(i)), batch.desc}, attributes());
    forward_.add(sum, {{DNNL_ARG_MULTIPLE_SRC, input(i)}, {DNNL_ARG_MULTIPLE_SRC + 1, batch}},
                 {{DNNL_ARG_DST, output(k)}});
  }

  void add_backward(const Forward& forward, float epsilon, Flags flags, const Argument& mean,
                    const Argument& variance) {
    if (context().wants_grad(In::input_mean) || context().wants_grad(In::input_var)) {
      throw Unsupported(context().who() +
                        ": oneDNN has no gradients by the running mean and variance");
    }
    const Desc x = rows(context().input(In::X));
    const Backward backward(engine(), dnnl::prop_kind::backward, x, x, x, epsilon, flags, forward,
                            attributes());
    const auto gradient = [&](std::size_t i, int name) {
      return context().wants_grad(i)
                 ? grad_input(i)
                 : backward_.scratch(backward.query_md(dnnl::query::exec_arg_md, name));
    };
    backward_.add(backward,
                  {{DNNL_ARG_SRC, input(In::X)},
                   {DNNL_ARG_SCALE, input(In::scale)},
                   {DNNL_ARG_MEAN, mean},
                   {DNNL_ARG_VARIANCE, variance},
                   {DNNL_ARG_DIFF_DST, grad_output(Out::Y)}},
                  {{DNNL_ARG_DIFF_SRC, gradient(In::X, DNNL_ARG_DIFF_SRC)},
                   {DNNL_ARG_DIFF_SCALE, gradient(In::scale, DNNL_ARG_DIFF_SCALE)},
                   {DNNL_ARG_DIFF_SHIFT, gradient(In::B, DNNL_ARG_DIFF_SHIFT)}});
  }
};

Support check(const PlanContext& context) {
  const int opset = context.node().opset;
  if (opset < 14 && context.output_count() > 1) return {"training before opset 14"};
  if (opset < 9 && BatchNormalizationView(context.node()).spatial() == 0) return {"spatial=0"};
  if (context.shape(0).rank() < 2) return {"statistics of a vector"};
  return floats(context);
}

}  // namespace

void register_batch_normalization(OperatorRegistry& registry) {
  add<BatchNormalization, BatchNormalizationView>(registry, check);
}

}  // namespace d5::onednn
