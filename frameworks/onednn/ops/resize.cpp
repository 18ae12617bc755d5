// SPDX-License-Identifier: Apache-2.0
// Resize, as far as oneDNN's sampling equals ONNX's: nearest for integer factors, linear between
// the centres of pixels.
#include "d5/onnx/nodes.hpp"
#include "onednn_kernel.hpp"

namespace d5::onednn {
namespace {

using ResizeView = onnx::nodes::Resize;
using ResizeIn = ResizeView::In;

/// Shapes: x N,C,spatial, with 1 to 3 spatial dimensions; y likewise.
class Resize final : public OneDnnKernel {
 public:
  explicit Resize(PlanContext& context) : OneDnnKernel(context) {
    using Forward = dnnl::resampling_forward::primitive_desc;
    using Backward = dnnl::resampling_backward::primitive_desc;
    const auto algorithm = ResizeView(context.node()).mode() == "nearest"
                               ? dnnl::algorithm::resampling_nearest
                               : dnnl::algorithm::resampling_linear;
    const Argument x = input_as_found(ResizeIn::X);
    const Desc y = rows(context.output(0));
    const Forward forward(engine(), direction(), algorithm, x.desc, any(y), attributes());
    forward_.add(forward, {{DNNL_ARG_SRC, x}}, {{DNNL_ARG_DST, output_in(0, forward.dst_desc())}});
    traits_.backward_reads_inputs = {};
    if (!context.wants_grad(ResizeIn::X)) return;
    const Backward backward(engine(), algorithm, x.desc, y, forward, attributes());
    backward_.add(backward, {{DNNL_ARG_DIFF_DST, grad_output(0)}},
                  {{DNNL_ARG_DIFF_SRC, grad_input(ResizeIn::X)}});
  }
};

/// Whether given factors equal the ratios of sizes, with which oneDNN computes.
bool factors_are_of_sizes(const PlanContext& context) {
  if (!context.has_input(ResizeIn::scales)) return true;
  const Tensor* scales = context.constant(ResizeIn::scales);
  if (!scales) return false;
  if (scales->elements() == 0) return true;  // sizes are given instead
  const Shape &x = context.shape(ResizeIn::X), &y = context.output(0).shape;
  if (scales->elements() != std::int64_t(x.rank())) return false;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (scales->data<float>()[i] * float(x[i]) != float(y[i])) return false;
  }
  return true;
}

bool grows_by_whole_factors(const PlanContext& context) {
  const Shape &x = context.shape(ResizeIn::X), &y = context.output(0).shape;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (y[i] % x[i] != 0) return false;
  }
  return true;
}

Support check_resize(const PlanContext& context) {
  const ResizeView view(context.node());
  if (const Support support = floats(context, {ResizeIn::X}); !support) return support;
  const Shape &x = context.shape(ResizeIn::X), &y = context.output(0).shape;
  if (context.node().opset < 11) return {"Resize before opset 11"};
  if (x.rank() < 3 || x.rank() > 5 || x[0] != y[0] || x[1] != y[1]) {
    return {"a number of resized spatial dimensions other than 1 to 3"};
  }
  if (view.axes() || view.antialias() != 0 || view.keep_aspect_ratio_policy() != "stretch" ||
      !factors_are_of_sizes(context)) {
    return {"axes, antialias, a policy other than stretch, or scales that do not match the sizes"};
  }
  const std::string places = view.coordinate_transformation_mode();
  const std::string nearest = view.nearest_mode();
  // With an integer factor, pixels lie within the pixel that they repeat for any coordinate mode.
  const bool repeats = grows_by_whole_factors(context) &&
                       ((places == "half_pixel" && nearest.starts_with("round_prefer")) ||
                        (places == "asymmetric" && nearest == "floor"));
  if (view.mode() == "nearest" && repeats) return {};
  if (view.mode() == "linear" && places == "half_pixel") return {};
  return {"mode " + view.mode() + " with " + places + " and " + nearest};
}

}  // namespace

void register_resize(OperatorRegistry& registry) {
  add<Resize, ResizeView>(registry, check_resize);
}

}  // namespace d5::onednn
