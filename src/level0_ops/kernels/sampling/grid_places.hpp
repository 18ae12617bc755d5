// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "level0_ops/kernels/sampling/cubic_filter.hpp"
#include "level0_ops/kernels/sampling/sampling.hpp"

namespace d5::detail {

/// GridSample's attributes for reading a tensor at coordinates from -1 to 1.
struct GridRule {
  enum class Filter { nearest, linear, cubic };
  enum class Padding { zeros, border, reflection };

  Filter filter = Filter::linear;
  Padding padding = Padding::zeros;
  bool align_corners = false;
};

/// A dimension of `size` >= 1 elements. C is the type of the grid's arithmetic. Source: ONNX,
/// operator GridSample; the slopes at kinks are as in torch.
template <class C>
class GridAxis {
 public:
  GridAxis(const GridRule& rule, std::int64_t size)
      : rule_(rule),
        size_(size),
        last_(C(size - 1)),
        low_(rule.align_corners ? C(0) : C(-0.5)),
        high_(rule.align_corners ? last_ : last_ + C(0.5)) {}

  /// The slopes are with respect to the grid's coordinate, from -1 to 1.
  [[nodiscard]] AxisSample<C> sample(C normalized) const {
    auto [place, slope] = padded(rule_.align_corners ? (normalized + 1) / 2 * last_
                                                     : ((normalized + 1) * C(size_) - 1) / 2);
    slope *= (rule_.align_corners ? last_ : C(size_)) / 2;
    if (!(std::abs(place) < C(0x1p60))) place = -100;  // too far to count, or NaN
    AxisSample<C> result;
    const C left = std::floor(place), t = place - left;
    switch (rule_.filter) {
      case GridRule::Filter::nearest:
        result.index = {element(place)};
        return result;
      case GridRule::Filter::linear:
        result = {.count = 2,
                  .index = {element(left), element(left + 1)},
                  .weight = {1 - t, t},
                  .slope = {-slope, slope}};
        return result;
      case GridRule::Filter::cubic:
        result.count = 4;
        for (int k = 0; k < 4; ++k) result.index[std::size_t(k)] = element(left + C(k - 1));
        result.weight = {kCubic.far(1 + t), kCubic.near(t), kCubic.near(1 - t), kCubic.far(2 - t)};
        result.slope = {kCubic.far_slope(1 + t) * slope, kCubic.near_slope(t) * slope,
                        -kCubic.near_slope(1 - t) * slope, -kCubic.far_slope(2 - t) * slope};
        return result;
    }
    return result;
  }

 private:
  static constexpr CubicFilter<C> kCubic{C(-0.75)};

  struct Place {
    C at, slope;
  };

  [[nodiscard]] Place padded(C place) const {
    if (rule_.filter == GridRule::Filter::nearest) place = std::nearbyint(place);  // halves to even
    if (rule_.padding == GridRule::Padding::zeros) return {place, 1};
    Place result{place, 1};
    const bool outside = place < low_ || place > high_;
    if (rule_.padding == GridRule::Padding::reflection && outside) result = reflected(place);
    // A cubic filter extends over the border; only coordinates outside are moved.
    const bool keep = rule_.filter == GridRule::Filter::cubic &&
                      (rule_.padding == GridRule::Padding::reflection || !outside);
    if (keep) return result;
    if (result.at <= 0 || result.at >= last_) result.slope = 0;
    result.at = std::clamp(result.at, C(0), last_);
    return result;
  }

  [[nodiscard]] Place reflected(C place) const {
    const C span = high_ - low_;
    if (!(span > 0)) return {low_, 0};
    const C away = std::abs(place - low_);
    const bool turned = std::fmod(std::floor(away / span), C(2)) != 0;
    const C extra = std::fmod(away, span), slope = place < low_ ? C(-1) : C(1);
    return turned ? Place{high_ - extra, -slope} : Place{low_ + extra, slope};
  }

  /// The index of the element at an integer coordinate; -1 for zero padding.
  [[nodiscard]] std::int64_t element(C place) const {
    if (rule_.padding == GridRule::Padding::zeros) {
      return place >= 0 && place <= last_ ? std::int64_t(place) : -1;
    }
    if (rule_.padding == GridRule::Padding::reflection && (place < 0 || place > last_)) {
      place = reflected(place).at;
    }
    return std::int64_t(std::nearbyint(std::clamp(place, C(0), last_)));
  }

  GridRule rule_;
  std::int64_t size_;
  C last_, low_, high_;
};

}  // namespace d5::detail
