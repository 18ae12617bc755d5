// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/sampling/resize_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5::detail {
namespace {

/// An empty list counts as absent.
bool holds_numbers(const InferContext& context, const std::optional<std::size_t>& input) {
  return input && context.has_input(*input) && context.shape(*input) != Shape{0};
}

void check_count(std::string_view what, std::size_t count, std::size_t expected,
                 const InferContext& context) {
  if (count == expected) return;
  throw ShapeError(
      fmt::format("{}: {} {} are given for {} dimensions", context.who(), count, what, expected));
}

std::int64_t to_size(double size, const InferContext& context) {
  if (size < 0x1p62) return std::int64_t(size);  // false for NaN
  throw ShapeError(fmt::format("{}: a dimension would have {} elements", context.who(), size));
}

}  // namespace

std::vector<std::size_t> ResizeSizes::places(const InferContext& context) const {
  const std::size_t rank = context.shape(0).rank();
  if (given_.axes) return distinct_axes(*given_.axes, rank, context.who());
  std::vector<std::size_t> all(rank);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::optional<std::vector<ResampledAxis>> ResizeSizes::resolve(const InferContext& context) const {
  Axes axes;
  for (const std::int64_t dim : context.shape(0)) axes.push_back({dim, dim, 1, double(dim)});
  const bool has_sizes = holds_numbers(context, given_.sizes);
  const bool has_scales = given_.scale_attribute || holds_numbers(context, given_.scales);
  if (has_sizes && has_scales) {
    throw ShapeError(context.who() + ": scales and sizes are given, expected one of them");
  }
  if (has_sizes) {
    const auto sizes = context.integers(*given_.sizes);
    if (sizes.is_untold()) return std::nullopt;
    take_sizes(sizes.values(), context, axes);
  } else if (has_scales) {
    const auto scales = this->scales(context);
    if (!scales) return std::nullopt;
    take_scales(*scales, context, axes);
  } else {
    check_count("scales", 0, places(context).size(), context);
  }
  return axes;
}

std::optional<std::vector<float>> ResizeSizes::scales(const InferContext& context) const {
  if (given_.scale_attribute) return given_.scale_attribute;
  const Tensor* scales = context.constant(*given_.scales);
  if (!scales) return std::nullopt;
  const auto values = scales->span<float>();
  return std::vector<float>(values.begin(), values.end());
}

void ResizeSizes::take_scales(const std::vector<float>& scales, const InferContext& context,
                              Axes& axes) const {
  const auto places = this->places(context);
  check_count("scales", scales.size(), places.size(), context);
  for (std::size_t i = 0; i < places.size(); ++i) {
    ResampledAxis& axis = axes[places[i]];
    const float scale = scales[i];
    if (!(scale > 0) || scale < given_.least_scale || !std::isfinite(scale)) {
      throw ValueError(fmt::format("{}: a scale is {}, expected {}", context.who(), scale,
                                   given_.least_scale > 0 ? "1 or more" : "more than 0"));
    }
    axis.scale = double(scale);
    axis.length = axis.scale * double(axis.input);
    // In float32, as in ONNX's shape inference.
    axis.output = to_size(std::floor(float(axis.input) * scale), context);
  }
}

void ResizeSizes::take_sizes(const std::vector<std::int64_t>& sizes, const InferContext& context,
                             Axes& axes) const {
  const auto places = this->places(context);
  check_count("sizes", sizes.size(), places.size(), context);
  double least = 0, most = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (sizes[i] < 0) {
      throw ValueError(
          fmt::format("{}: a size is {}, expected 0 or more", context.who(), sizes[i]));
    }
    ResampledAxis& axis = axes[places[i]];
    axis.output = sizes[i];
    axis.length = double(sizes[i]);
    if (axis.output != axis.input) axis.scale = axis.length / double(axis.input);
    least = i == 0 ? axis.scale : std::min(least, axis.scale);
    most = i == 0 ? axis.scale : std::max(most, axis.scale);
  }
  if (given_.aspect_ratio == AspectRatio::stretch) return;
  for (const std::size_t d : places) {
    ResampledAxis& axis = axes[d];
    axis.scale = given_.aspect_ratio == AspectRatio::not_larger ? least : most;
    axis.length = axis.scale * double(axis.input);
    axis.output = to_size(std::floor(axis.length + 0.5), context);  // rounds halves up
  }
}

}  // namespace d5::detail
