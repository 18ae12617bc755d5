// SPDX-License-Identifier: Apache-2.0
// Resizing of images, as far as ONNX's and TensorFlow's modes agree.
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

using ResizeView = onnx::nodes::Resize;

[[noreturn]] void refuse(const PlanContext& context, const char* what) {
  throw Unsupported(context.who() + ": TensorFlow resizes " + what);
}

/// TensorFlow's scale is the ratio of sizes; ONNX's may differ by rounding.
bool scales_are_quotients(const PlanContext& context) {
  const Tensor* scales = context.constant(ResizeView::In::scales);
  if (!context.has_input(ResizeView::In::scales)) return true;
  if (!scales || scales->elements() != 4) return scales && scales->elements() == 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto exact = double(context.output(0).shape[i]) / double(context.shape(0)[i]);
    if (std::abs(double(scales->span<float>()[i]) - exact) > 1e-6 * exact) return false;
  }
  return true;
}

Terms resize(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const ResizeView view(context.node());
  const Shape &x = context.shape(0), &y = context.output(0).shape;
  if (x.rank() != 4 || !y.is_static() || y[0] != x[0] || y[1] != x[1] || x.elements() == 0) {
    refuse(context, "only two spatial dimensions");
  }
  if (context.node().opset < 11 || view.antialias() != 0 || !scales_are_quotients(context)) {
    refuse(context, "without antialiasing, by the quotient of the sizes");
  }
  const std::string mode = view.mode(), at = view.coordinate_transformation_mode();
  const bool linear = mode == "linear", corners = at == "align_corners", half = at == "half_pixel";
  if (!corners && !half && at != "asymmetric") refuse(context, "with other coordinates");
  const std::string nearest = view.nearest_mode();
  const bool same_nearest = nearest == (at == "asymmetric" ? "floor" : "round_prefer_ceil");
  if (!linear && (mode != "nearest" || !same_nearest))
    refuse(context, "linearly, or to a nearest of its own");
  if (linear && context.dtype(0) != DType::float32) refuse(context, "linearly only in float32");
  const Term resized = graph.add(linear ? "ResizeBilinear" : "ResizeNearestNeighbor",
                                 {graph.channels_last(inputs[0]), graph.integers({y[2], y[3]})},
                                 {{"align_corners", corners}, {"half_pixel_centers", half}});
  return {graph.channels_first(resized)};
}

}  // namespace

void register_resize(Translators& translators) { translators.add<ResizeView>(resize); }

}  // namespace d5::tensorflow
