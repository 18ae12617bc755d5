// SPDX-License-Identifier: Apache-2.0
// Resize, and its predecessor Upsample: changes sizes by interpolation.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/word.hpp"
#include "level0_ops/kernels/sampling/resize_kernel.hpp"
#include "level0_ops/kernels/sampling/resize_sizes.hpp"

namespace d5::ops {
namespace {

using detail::ResampledAxis;
using detail::Resampling;
using detail::ResizeSizes;
using detail::ResizeStep;
using detail::word_of;
using ResizeView = onnx::nodes::Resize;
using UpsampleView = onnx::nodes::Upsample;
using Coordinates = Resampling::Coordinates;
using Filter = Resampling::Filter;
using Rounding = Resampling::Rounding;

Filter filter_of(const onnx::Node& node, const std::string& word) {
  if (node.opset >= 11) {
    return word_of<Filter>(
        node, "mode", word,
        {{"nearest", Filter::nearest}, {"linear", Filter::linear}, {"cubic", Filter::cubic}});
  }
  return word_of<Filter>(
      node, "mode", word,
      {{"nearest", Filter::nearest}, {"linear", Filter::linear}, {"bilinear", Filter::linear}});
}

Resampling rule_of(const ResizeView& view) {
  const onnx::Node& node = view.node();
  Resampling rule{.filter = filter_of(node, view.mode())};
  if (node.opset < 11) {  // unspecified; as in ONNX's test case and ONNX Runtime
    rule.coordinates = Coordinates::asymmetric;
    rule.rounding = Rounding::away;
    return rule;
  }
  rule.coordinates = word_of<Coordinates>(
      node, "coordinate_transformation_mode", view.coordinate_transformation_mode(),
      {{"half_pixel", Coordinates::half_pixel},
       {"half_pixel_symmetric", Coordinates::half_pixel_symmetric},
       {"pytorch_half_pixel", Coordinates::pytorch_half_pixel},
       {"align_corners", Coordinates::align_corners},
       {"asymmetric", Coordinates::asymmetric},
       {"tf_half_pixel_for_nn", Coordinates::tf_half_pixel},
       {"tf_crop_and_resize", Coordinates::crop}});
  rule.rounding = word_of<Rounding>(node, "nearest_mode", view.nearest_mode(),
                                    {{"round_prefer_floor", Rounding::prefer_floor},
                                     {"round_prefer_ceil", Rounding::prefer_ceil},
                                     {"floor", Rounding::floor},
                                     {"ceil", Rounding::ceil}});
  rule.cubic_a = double(view.cubic_coeff_a());
  rule.antialias = view.antialias() != 0;
  rule.exclude_outside = view.exclude_outside() != 0;
  if (rule.antialias && rule.filter == Filter::nearest) {
    throw ValueError(onnx::describe(node) + ": antialias is for the modes linear and cubic");
  }
  return rule;
}

ResizeSizes sizes_of(const ResizeView& view) {
  using AspectRatio = ResizeSizes::AspectRatio;
  if (view.node().opset < 11) return ResizeSizes({.scales = 1});
  return ResizeSizes({.scales = ResizeView::In::scales,
                      .sizes = ResizeView::In::sizes,
                      .axes = view.axes(),
                      .aspect_ratio = word_of<AspectRatio>(
                          view.node(), "keep_aspect_ratio_policy", view.keep_aspect_ratio_policy(),
                          {{"stretch", AspectRatio::stretch},
                           {"not_larger", AspectRatio::not_larger},
                           {"not_smaller", AspectRatio::not_smaller}})});
}

ResizeSizes sizes_of(const UpsampleView& view) {
  ResizeSizes::Given given{.least_scale = 1};
  if (view.node().opset >= 9) {
    given.scales = UpsampleView::In::scales;
  } else if (view.node().opset >= 7) {
    given.scale_attribute = view.scales();
  } else {
    given.scale_attribute = {1, 1, view.height_scale(), view.width_scale()};
  }
  return ResizeSizes(given);
}

/// Shapes: dimension i of Y is sizes[i], or floor(dimension i of X * scales[i]).
class Resize final : public Operator {
 public:
  explicit Resize(const ResizeView& view)
      : rule_(rule_of(view)), sizes_(sizes_of(view)), extrapolation_(view.extrapolation_value()) {}
  explicit Resize(const UpsampleView& view)
      : rule_{.filter = filter_of(view.node(), view.mode()),
              .coordinates = Coordinates::asymmetric,
              .rounding = Rounding::floor},
        sizes_(sizes_of(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (crops()) check_roi(context);
    const auto axes = sizes_.resolve(context);
    if (!axes) return {unknown_shape(context.dtype(0))};
    Shape y;
    for (const ResampledAxis& axis : *axes) y.push_back(axis.output);
    if (y.elements() > 0 && context.shape(0).elements() == 0) {
      throw ShapeError(fmt::format("{}: X is {}; there is nothing to make {} of", context.who(),
                                   to_string(context.shape(0)), to_string(y)));
    }
    return {TensorDesc{context.dtype(0), y}};
  }

  Places gradients() const override { return {ResizeView::In::X}; }

  /// By the definition: a product and a sum per contributing element.
  Cost cost(const InferContext& context) const override {
    const auto axes = sizes_.resolve(context);
    if (!axes || rule_.filter == Filter::nearest) return bytes_only(context);
    double elements = 1, taps = 1;
    for (const ResampledAxis& axis : *axes) {
      elements *= double(axis.output);
      if (axis.output == axis.input && !crops()) continue;
      const double stretch = rule_.antialias ? std::max(1.0, 1 / axis.scale) : 1;
      taps *= stretch * (rule_.filter == Filter::linear ? 2 : 4);
    }
    return with_flop(context, elements == 0 ? 0 : 2 * taps * elements);
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const TensorDesc& y = context.output(0);
    if (y.bytes() > memory_budget()) {
      throw MemoryError(fmt::format("{}: {} takes more than the memory budget of {} bytes",
                                    context.who(), to_string(y), memory_budget()));
    }
    std::vector<ResizeStep> steps = changing_steps(context);
    const auto roi = roi_input(context);
    if (rule_.filter == Filter::nearest || steps.empty()) {
      steps = neighbouring(std::move(steps), context);
      const Tensor fill = crops() ? fill_of(context) : Tensor();
      return detail::moving_kernel_for(context.dtype(0), context, [&]<class T>() {
        return std::make_unique<detail::NearestResizeKernel<T>>(std::move(steps), roi, fill);
      });
    }
    // Shrinking dimensions first, so that no intermediate tensor is larger than both input and
    // output.
    std::ranges::stable_sort(steps, {}, [](const ResizeStep& step) {
      return double(step.taps.output()) / double(step.taps.input());
    });
    set_sizes(steps, context.shape(0));
    return kernel_for(NumberTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<detail::InterpolatingResizeKernel<T>>(std::move(steps), roi,
                                                                    extrapolation_, context);
    });
  }

 private:
  [[nodiscard]] bool crops() const { return rule_.coordinates == Coordinates::crop; }

  void check_roi(const InferContext& context) const {
    const auto expected = std::int64_t(2 * sizes_.places(context).size());
    if (context.has_input(ResizeView::In::roi) &&
        context.shape(ResizeView::In::roi) == Shape{expected})
      return;
    throw ShapeError(fmt::format(
        "{}: roi is {}, expected {} numbers for tf_crop_and_resize", context.who(),
        context.has_input(ResizeView::In::roi) ? to_string(context.shape(ResizeView::In::roi))
                                               : "left out",
        expected));
  }

  /// One step per dimension that changes, or may change: all dimensions of a crop.
  [[nodiscard]] std::vector<ResizeStep> changing_steps(const PlanContext& context) const {
    std::vector<ResizeStep> steps;
    if (context.output(0).elements() == 0) return steps;
    const auto axes = sizes_.resolve(context).value();
    const auto places = sizes_.places(context);
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const auto place = std::ranges::find(places, d);
      const bool cropped = crops() && place != places.end();
      if (!cropped && axes[d].output == axes[d].input && axes[d].scale == 1) continue;
      steps.push_back({d, detail::ResamplingTaps(rule_, axes[d])});
      if (cropped) steps.back().roi = std::size_t(place - places.begin());
    }
    return steps;
  }

  /// Adds unchanged dimensions in between, and at least one step.
  static std::vector<ResizeStep> neighbouring(std::vector<ResizeStep> changing,
                                              const PlanContext& context) {
    const Shape& x = context.shape(0);
    std::vector<ResizeStep> steps;
    for (ResizeStep& step : changing) {
      while (!steps.empty() && steps.back().dimension + 1 < step.dimension) {
        const std::size_t d = steps.back().dimension + 1;
        steps.push_back(unchanged(d, x[d]));
      }
      steps.push_back(std::move(step));
    }
    if (steps.empty()) {
      steps = {unchanged(0, 1)};
      steps[0].inner = context.output(0).elements();
      return steps;
    }
    set_sizes(steps, x);
    return steps;
  }
  static ResizeStep unchanged(std::size_t dimension, std::int64_t size) {
    const Resampling same{.coordinates = Coordinates::asymmetric};
    return {dimension, detail::ResamplingTaps(same, {size, size, 1, double(size)})};
  }

  static void set_sizes(std::vector<ResizeStep>& steps, Shape shape) {
    for (ResizeStep& step : steps) {
      step.outer = shape.elements(0, step.dimension);
      step.inner = shape.elements(step.dimension + 1, shape.rank());
      shape[step.dimension] = step.taps.output();
    }
  }

  [[nodiscard]] std::optional<detail::RoiInput> roi_input(const PlanContext& context) const {
    if (!crops()) return std::nullopt;
    detail::RoiInput roi{ResizeView::In::roi, sizes_.places(context).size(), nullptr};
    dispatch(FloatTypes{}, context.dtype(roi.place), context.who(), [&]<class T>() {
      roi.read = [](const Tensor& values, std::size_t i) {
        return double(Arithmetic<T>(values.data<T>()[i]));
      };
    });
    return roi;
  }

  /// The element outside the crop.
  [[nodiscard]] Tensor fill_of(const PlanContext& context) const {
    Tensor result = Tensor::zeros(context.dtype(0), {});
    if (extrapolation_ == 0) return result;
    dispatch(NumberTypes{}, context.dtype(0), context.who(),
             [&]<class T>() { *result.data<T>() = detail::rounded<T>(extrapolation_); });
    return result;
  }

  Resampling rule_;
  ResizeSizes sizes_;
  double extrapolation_ = 0;
};

}  // namespace

void register_resize(OperatorRegistry& registry) {
  registry.add<Resize, ResizeView>();
  registry.add<Resize, UpsampleView>();
}

}  // namespace d5::ops
