// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/row_scale.hpp"
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using LayerNormalizationView = onnx::nodes::LayerNormalization;
using Flags = dnnl::normalization_flags;

/// Shapes: x as rows,columns, normalised along each row; scale and shift one row; mean and inverse
/// deviation one number per row.
class LayerNormalization final : public OneDnnKernel {
 public:
  explicit LayerNormalization(PlanContext& context) : OneDnnKernel(context) {
    const LayerNormalizationView view(context.node());
    const Shape& shape = context.shape(In::X);
    const std::size_t axis = normalize_axis(view.axis(), shape.rank(), context.who());
    for (const std::size_t i : {std::size_t(In::Scale), std::size_t(In::B)}) {
      if (!context.has_input(i) || row_scale(context, i, axis).is_row) continue;
      throw Unsupported(context.who() + ": oneDNN scales all rows alike, by an element each");
    }
    const std::int64_t count = shape.elements(0, axis);
    const std::int64_t columns = shape.elements(axis, shape.rank());
    const Desc x = rows({count, columns}, data_type(context.dtype(In::X)));
    const bool shifts = context.has_input(In::B);
    const Flags flags = shifts ? Flags::use_scale | Flags::use_shift : Flags::use_scale;
    const bool asks = context.wants_output(Out::Mean) || context.wants_output(Out::InvStdDev);
    const Forward forward(engine(), asks ? dnnl::prop_kind::forward_training : direction(), x, x,
                          view.epsilon(), flags, attributes());
    std::vector<Pass::Bound> reads = {{DNNL_ARG_SRC, input(In::X).as(x)},
                                      {DNNL_ARG_SCALE, row(input(In::Scale), columns)}};
    if (shifts) reads.push_back({DNNL_ARG_SHIFT, row(input(In::B), columns)});
    std::vector<Pass::Bound> writes = {{DNNL_ARG_DST, output(Out::Y).as(x)}};
    traits_.backward_reads_inputs = {In::X, In::Scale, In::B};
    if (!asks && !context.wants_backward()) {
      forward_.add(forward, reads, writes);
      return;
    }
    const Argument mean = statistics(forward.mean_desc());
    const Argument variance = statistics(forward.variance_desc());
    writes.push_back({DNNL_ARG_MEAN, mean});
    writes.push_back({DNNL_ARG_VARIANCE, variance});
    forward_.add(forward, reads, writes);
    if (context.wants_output(Out::Mean)) {
      forward_.reorder(mean, column(output(Out::Mean), count));
    }
    if (context.wants_output(Out::InvStdDev)) {
      add_inverse_deviation(variance, column(output(Out::InvStdDev), count), view.epsilon());
    }
    if (context.wants_backward()) add_backward(forward, x, columns, flags, mean, variance);
  }

 private:
  using In = LayerNormalizationView::In;
  using Out = LayerNormalizationView::Out;
  using Forward = dnnl::layer_normalization_forward::primitive_desc;
  using Backward = dnnl::layer_normalization_backward::primitive_desc;

  static Argument row(const Argument& vector, std::int64_t columns) {
    return vector.as(rows({columns}, vector.desc.get_data_type()));
  }
  static Argument column(const Argument& vector, std::int64_t count) {
    return vector.as(rows({count}, vector.desc.get_data_type()));
  }
  Argument statistics(const Desc& desc) {
    return context().wants_backward() ? save(desc) : forward_.scratch(desc);
  }

  /// (variance + epsilon)^-1/2
  void add_inverse_deviation(const Argument& variance, const Argument& y, float epsilon) {
    dnnl::post_ops root;
    root.append_eltwise(dnnl::algorithm::eltwise_pow, 1, -0.5f);
    const auto linear = dnnl::algorithm::eltwise_linear;
    forward_.add(dnnl::eltwise_forward::primitive_desc(engine(), dnnl::prop_kind::forward_inference,
                                                       linear, variance.desc, variance.desc, 1,
                                                       epsilon, attributes(root)),
                 {{DNNL_ARG_SRC, variance}}, {{DNNL_ARG_DST, y}});
  }

  void add_backward(const Forward& forward, const Desc& x, std::int64_t columns, Flags flags,
                    const Argument& mean, const Argument& variance) {
    const Backward backward(engine(), dnnl::prop_kind::backward, x, x, x,
                            LayerNormalizationView(context().node()).epsilon(), flags, forward,
                            attributes());
    const auto gradient = [&](std::size_t i, int name, const Desc& desc) {
      return context().wants_grad(i)
                 ? grad_input(i).as(desc)
                 : backward_.scratch(backward.query_md(dnnl::query::exec_arg_md, name));
    };
    const Desc scale = rows({columns}, data_type(context().dtype(In::Scale)));
    std::vector<Pass::Bound> reads = {{DNNL_ARG_SRC, input(In::X).as(x)},
                                      {DNNL_ARG_SCALE, row(input(In::Scale), columns)},
                                      {DNNL_ARG_MEAN, mean},
                                      {DNNL_ARG_VARIANCE, variance},
                                      {DNNL_ARG_DIFF_DST, grad_output(Out::Y).as(x)}};
    std::vector<Pass::Bound> writes = {
        {DNNL_ARG_DIFF_SRC, gradient(In::X, DNNL_ARG_DIFF_SRC, x)},
        {DNNL_ARG_DIFF_SCALE, gradient(In::Scale, DNNL_ARG_DIFF_SCALE, scale)}};
    if (context().has_input(In::B)) {
      reads.push_back({DNNL_ARG_SHIFT, row(input(In::B), columns)});  // required, though unused
      writes.push_back({DNNL_ARG_DIFF_SHIFT, gradient(In::B, DNNL_ARG_DIFF_SHIFT, scale)});
    }
    backward_.add(backward, reads, writes);
  }
};

}  // namespace

void register_layer_normalization(OperatorRegistry& registry) {
  add<LayerNormalization, LayerNormalizationView>(registry, floats);
}

}  // namespace d5::onednn
