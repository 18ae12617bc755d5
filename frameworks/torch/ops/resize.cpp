// SPDX-License-Identifier: Apache-2.0
// Resize, and its predecessor Upsample. It uses one of torch's functions that computes the same,
// otherwise weighted sums of selected elements.
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"
#include "upsampling.hpp"

namespace d5::torch {
namespace {

using ResizeView = onnx::nodes::Resize;
using UpsampleView = onnx::nodes::Upsample;

using Axis = ResizedAxis;

/// Maps output positions `o` to input positions.
using Coordinates = at::Tensor (*)(const at::Tensor& o, const Axis& axis);

at::Tensor half_pixel(const at::Tensor& o, const Axis& axis) {
  return (o + 0.5) / axis.scale - 0.5;
}
at::Tensor symmetric(const at::Tensor& o, const Axis& axis) {
  const double middle = double(axis.input) / 2;
  return half_pixel(o, axis) + middle * (1 - double(axis.output) / axis.length);
}
at::Tensor half_pixel_or_zero(const at::Tensor& o, const Axis& axis) {
  return axis.output > 1 ? half_pixel(o, axis) : at::zeros_like(o);
}
at::Tensor corners(const at::Tensor& o, const Axis& axis) {
  if (axis.output == 1) return at::zeros_like(o);
  return o * (double(axis.input - 1) / (axis.length - 1));
}
at::Tensor asymmetric(const at::Tensor& o, const Axis& axis) { return o / axis.scale; }
at::Tensor centred(const at::Tensor& o, const Axis& axis) { return (o + 0.5) / axis.scale; }

constexpr std::array<std::pair<std::string_view, Coordinates>, 6> kCoordinates{{
    {"half_pixel", half_pixel},
    {"half_pixel_symmetric", symmetric},
    {"pytorch_half_pixel", half_pixel_or_zero},
    {"align_corners", corners},
    {"asymmetric", asymmetric},
    {"tf_half_pixel_for_nn", centred},
}};

/// Interpolation rule between elements.
struct Rule {
  std::string mode, rounding = "floor";
  Coordinates coordinates = asymmetric;
  double cubic = -0.75;
  bool antialias = false, exclude_outside = false;

  explicit Rule(const UpsampleView& view) : mode(view.mode()) {}
  explicit Rule(const ResizeView& view) : mode(view.mode()) {
    if (view.node().opset < 11) {  // ambiguities are resolved as in ONNX's test
      rounding = "away";
      return;
    }
    rounding = view.nearest_mode();
    const auto row = std::ranges::find(kCoordinates, view.coordinate_transformation_mode(),
                                       &std::pair<std::string_view, Coordinates>::first);
    coordinates = row == kCoordinates.end() ? nullptr : row->second;
    cubic = view.cubic_coeff_a();
    antialias = view.antialias() != 0;
    exclude_outside = view.exclude_outside() != 0;
  }

  /// The functions of torch that may compute this.
  [[nodiscard]] std::vector<Upsampling::Kind> kinds() const {
    using Kind = Upsampling::Kind;
    if (mode == "nearest") return {Kind::nearest, Kind::nearest_exact};
    if (mode == "cubic") return {antialias ? Kind::antialiased_cubic : Kind::cubic};
    return {antialias ? Kind::antialiased_linear : Kind::linear};
  }
  [[nodiscard]] Upsampling::Ends ends() const {
    return coordinates == corners ? Upsampling::Ends::corners : Upsampling::Ends::halves;
  }

  [[nodiscard]] at::Tensor nearest(const at::Tensor& p, double scale) const {
    if (rounding == "round_prefer_floor") return (p - 0.5).ceil();
    if (rounding == "round_prefer_ceil") return (p + 0.5).floor();
    if (rounding == "ceil" || (rounding == "away" && scale < 1)) return p.ceil();
    return p.floor();
  }
  [[nodiscard]] at::Tensor weight(const at::Tensor& distance) const {
    const at::Tensor d = distance.abs();
    if (mode != "cubic") return (1 - d).clamp_min(0);
    const double a = cubic;
    const at::Tensor near = ((a + 2) * d - (a + 3)) * d * d + 1;
    const at::Tensor far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    return at::where(d <= 1, near, at::where(d < 2, far, at::zeros_like(d)));
  }
};

/// For each position along an output dimension, the input elements and their weights.
/// Shapes: both taps x output; without weights there is one tap.
struct Taps {
  std::int64_t dim;
  at::Tensor places, weights;

  Taps(const Rule& rule, const Axis& axis) : dim(axis.dim) {
    const at::Tensor p = rule.coordinates(at::arange(axis.output, at::kDouble), axis);
    const std::int64_t last = axis.input - 1;
    if (rule.mode == "nearest") {
      places = rule.nearest(p, axis.scale).clamp(0, last).to(at::kLong).unsqueeze(0);
      return;
    }
    const double stretch = rule.antialias ? std::min(axis.scale, 1.0) : 1;
    const auto half = std::int64_t(std::ceil((rule.mode == "cubic" ? 2 : 1) / stretch));
    // An element at the exact position is the last of the left half.
    const at::Tensor i = p.ceil() + at::arange(-half, half, at::kDouble).unsqueeze(1);
    weights = rule.weight((i - p) * stretch);
    if (rule.exclude_outside) weights = weights.masked_fill((i < 0) | (i > last), 0);
    if (rule.antialias || rule.exclude_outside) {
      const at::Tensor sum = weights.sum(0, /*keepdim=*/true);
      weights = weights / sum.masked_fill(sum == 0, 1);
    }
    places = i.clamp(0, last).to(at::kLong);
  }

  void move_to(c10::Device device) {
    places = places.to(device);
    if (weights.defined()) weights = weights.to(device);
  }
  /// Resizes dimension `dim` of x.
  [[nodiscard]] at::Tensor of(const at::Tensor& x, std::int64_t dim) const {
    if (!weights.defined()) return at::index_select(x, dim, places[0]);
    at::DimVector sizes(std::size_t(x.dim()), 1);
    sizes[std::size_t(dim)] = weights.size(1);
    at::Tensor y;
    for (std::int64_t k = 0; k < places.size(0); ++k) {
      const at::Tensor part =
          at::index_select(x, dim, places[k]) * weights[k].to(x.scalar_type()).reshape(sizes);
      y = y.defined() ? y + part : part;
    }
    return y;
  }
};

/// The numbers in a constant input.
std::vector<double> scales_at(const PlanContext& context, std::size_t i) {
  const auto values = context.constant(i)->span<float>();
  return {values.begin(), values.end()};
}
template <class List>
std::vector<double> doubles(const List& list) {
  return {list.begin(), list.end()};
}

std::vector<Axis> axes_of(const PlanContext& context, std::vector<std::int64_t> dims,
                          const std::vector<double>& scales) {
  const Shape &x = context.shape(0), &y = context.output(0).shape;
  if (dims.empty()) {
    dims.resize(x.rank());
    std::iota(dims.begin(), dims.end(), 0);
  }
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const std::int64_t dim = front(dims[i], context);
    const std::int64_t input = x[std::size_t(dim)], output = y[std::size_t(dim)];
    if (input == output && scales[i] == 1) continue;
    axes.push_back({dim, input, output, scales[i], scales[i] * double(input)});
  }
  return axes;
}

std::vector<Axis> axes_of(const UpsampleView& view, const PlanContext& context) {
  const int opset = view.node().opset;
  if (opset >= 9) return axes_of(context, {}, scales_at(context, UpsampleView::In::scales));
  if (opset >= 7) return axes_of(context, {}, doubles(view.scales()));
  return axes_of(context, {}, {1, 1, view.height_scale(), view.width_scale()});
}

std::vector<Axis> axes_of(const ResizeView& view, const PlanContext& context) {
  const auto dims = view.axes().value_or(Sizes());
  const auto given = [&](std::size_t i) {
    return context.has_input(i) && context.shape(i) != Shape{0};
  };
  if (view.node().opset < 11) return axes_of(context, {}, scales_at(context, 1));
  if (given(ResizeView::In::scales)) {
    return axes_of(context, dims, scales_at(context, ResizeView::In::scales));
  }
  if (!given(ResizeView::In::sizes)) return {};
  std::vector<double> scales = doubles(context.integers(ResizeView::In::sizes).values());
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const std::int64_t dim = dims.empty() ? std::int64_t(i) : front(dims[i], context);
    scales[i] /= double(context.shape(0)[std::size_t(dim)]);
  }
  const std::string policy = view.keep_aspect_ratio_policy();
  if (policy != "stretch" && !scales.empty()) {
    const auto [least, most] = std::ranges::minmax(scales);
    std::ranges::fill(scales, policy == "not_larger" ? least : most);
  }
  return axes_of(context, dims, scales);
}

/// Whether torch's function gives the same as `taps` for a row of numbers along `axis`, in float64;
/// with a tolerance, because the positions differ in their last bits.
bool is_same(Upsampling::Kind kind, Upsampling::Ends ends, const Axis& axis, const Taps& taps) {
  const at::Tensor row = at::arange(axis.input, at::kDouble).square().sin();
  const Axis alone{0, axis.input, axis.output, axis.scale, axis.length};
  const auto function = Upsampling::of(kind, ends, row.sizes(), {&alone, 1});
  return at::allclose(function->forward(row), taps.of(row, 0), /*rtol=*/0, /*atol=*/1e-9);
}

/// The function of torch that applies `rule` to all of `axes`, if there is one.
std::optional<Upsampling> upsampling_for(const Rule& rule, const std::vector<Axis>& axes,
                                         const std::vector<Taps>& steps,
                                         const PlanContext& context) {
  if (axes.empty() || context.output(0).elements() == 0) return std::nullopt;
  const at::ScalarType type = scalar_type(context.dtype(0));
  if (!at::isFloatingType(type) && type != at::kByte) return std::nullopt;
  const auto sizes = context.shape(0).dims();
  for (const Upsampling::Kind kind : rule.kinds()) {
    const auto same = [&](const Axis& axis, const Taps& taps) {
      return is_same(kind, rule.ends(), axis, taps);
    };
    if (!std::ranges::equal(axes, steps, same)) continue;
    return Upsampling::of(kind, rule.ends(), {sizes.data(), sizes.size()}, axes);
  }
  return std::nullopt;
}

template <class V>
class Resize final : public TorchKernel {
 public:
  explicit Resize(const PlanContext& context) : TorchKernel(context) {
    const V view(context.node());
    const Rule rule(view);
    const std::vector<Axis> axes = axes_of(view, context);
    for (const Axis& axis : axes) steps_.emplace_back(rule, axis);
    widens_ = rule.mode != "nearest";
    upsampling_ = upsampling_for(rule, axes, steps_, context);
    const at::ScalarType type = scalar_type(context.dtype(0));
    direct_ = upsampling_ && type == at::toOpMathType(type);
    for (Taps& step : steps_) step.move_to(device());
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    at::Tensor y = widens_ ? widened(inputs[0]) : inputs[0];
    if (upsampling_) {
      y = upsampling_->forward(y);
    } else {
      for (const Taps& step : steps_) y = step.of(y, step.dim);
    }
    results[0] = steps_.empty() ? y.clone() : y.to(inputs[0].scalar_type());
  }
  KernelTraits traits() const override {
    return direct_ ? kBackwardReadsNothing : TorchKernel::traits();
  }

 protected:
  void differentiate(GradContext& context) override {
    if (!direct_) return TorchKernel::differentiate(context);
    upsampling_->backward(grad_in(context, 0), grad_out(context, 0));
  }

 private:
  std::vector<Taps> steps_;  // one dimension after the other
  std::optional<Upsampling> upsampling_;
  bool widens_, direct_;  // direct_: torch's derivative writes the gradient itself
};

template <class V>
Support resizes(const PlanContext& context) {
  const Rule rule{V(context.node())};
  if (!rule.coordinates) return {"Resize of a crop"};
  if (rule.mode != "nearest" && !is_floating_point(context.dtype(0))) {
    return {"interpolation of " + std::string(name_of(context.dtype(0)))};
  }
  return context.input(0).elements() == 0 ? Support{"Resize of no elements"} : stores(context);
}

}  // namespace

void register_resize(OperatorRegistry& registry) {
  add<Resize<ResizeView>, ResizeView>(registry, resizes<ResizeView>);
  add<Resize<UpsampleView>, UpsampleView>(registry, resizes<UpsampleView>);
}

}  // namespace d5::torch
