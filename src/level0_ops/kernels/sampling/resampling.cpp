// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/sampling/resampling.hpp"

#include <algorithm>
#include <cmath>

#include "level0_ops/kernels/sampling/cubic_filter.hpp"

namespace d5::detail {

ResamplingTaps::ResamplingTaps(const Resampling& rule, const ResampledAxis& axis)
    : rule_(rule), axis_(axis) {
  if (rule.filter != Resampling::Filter::nearest) {
    if (rule.antialias) stretch_ = std::min(axis.scale, 1.0);
    const double reach = rule.filter == Resampling::Filter::linear ? 1 : 2;
    count_ = -2 * std::int64_t(std::floor(-reach / stretch_));
  }
  taps_.resize(std::size_t(axis.output * count_));
  aim({});
}

void ResamplingTaps::aim(const Crop& crop) {
  for (std::int64_t o = 0; o < axis_.output; ++o) {
    Tap* taps = taps_.data() + o * count_;
    const double place = position(o, crop);
    const bool inside = place >= 0 && place <= double(axis_.input - 1);  // false for NaN
    if (rule_.coordinates == Resampling::Coordinates::crop && !inside) {
      std::fill_n(taps, count_, Tap{-1, 0});
    } else {
      fill(place, taps);
    }
  }
}

double ResamplingTaps::position(std::int64_t o, const Crop& crop) const {
  const double last = double(axis_.input - 1), half_pixel = (double(o) + 0.5) / axis_.scale - 0.5;
  switch (rule_.coordinates) {
    case Resampling::Coordinates::half_pixel:
      return half_pixel;
    case Resampling::Coordinates::half_pixel_symmetric:
      return double(axis_.input) / 2 * (1 - double(axis_.output) / axis_.length) + half_pixel;
    case Resampling::Coordinates::pytorch_half_pixel:
      return axis_.output > 1 ? half_pixel : 0;
    case Resampling::Coordinates::align_corners:
      return o == 0 ? 0 : double(o) * last / (axis_.length - 1);
    case Resampling::Coordinates::asymmetric:
      return double(o) / axis_.scale;
    case Resampling::Coordinates::tf_half_pixel:
      return (double(o) + 0.5) / axis_.scale;
    case Resampling::Coordinates::crop:
      if (axis_.length == 1) return 0.5 * (crop.begin + crop.end) * last;
      return crop.begin * last + double(o) * (crop.end - crop.begin) * last / (axis_.length - 1);
  }
  return 0;
}

void ResamplingTaps::fill(double position, Tap* taps) const {
  const std::int64_t last = axis_.input - 1;
  if (rule_.filter == Resampling::Filter::nearest) {
    taps[0] = {std::clamp<std::int64_t>(nearest(position), 0, last), 1};
    return;
  }
  // An element exactly at the position belongs to the left half.
  const double left = std::ceil(position) - 1;
  double sum = 0;
  for (std::int64_t k = 0; k < count_; ++k) {
    const std::int64_t i = std::int64_t(left) + 1 - count_ / 2 + k;
    const bool excluded = rule_.exclude_outside && (i < 0 || i > last);
    const double w = excluded ? 0 : weight((double(i) - position) * stretch_);
    taps[k] = {std::clamp<std::int64_t>(i, 0, last), w};
    sum += w;
  }
  if ((!rule_.antialias && !rule_.exclude_outside) || sum == 0) return;
  for (std::int64_t k = 0; k < count_; ++k) taps[k].weight /= sum;
}

std::int64_t ResamplingTaps::nearest(double position) const {
  switch (rule_.rounding) {
    case Resampling::Rounding::prefer_floor:
      return std::int64_t(std::ceil(position - 0.5));
    case Resampling::Rounding::prefer_ceil:
      return std::int64_t(std::floor(position + 0.5));
    case Resampling::Rounding::floor:
      return std::int64_t(std::floor(position));
    case Resampling::Rounding::ceil:
      return std::int64_t(std::ceil(position));
    case Resampling::Rounding::away:
      return std::int64_t(axis_.scale < 1 ? std::ceil(position) : std::floor(position));
  }
  return 0;
}

double ResamplingTaps::weight(double distance) const {
  const double d = std::abs(distance);
  if (rule_.filter == Resampling::Filter::linear) return std::max(0.0, 1 - d);
  const CubicFilter<double> cubic{rule_.cubic_a};
  if (d <= 1) return cubic.near(d);
  return d < 2 ? cubic.far(d) : 0;
}

}  // namespace d5::detail
