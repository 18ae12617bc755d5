// SPDX-License-Identifier: Apache-2.0
#include "core/report/axis_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/results/scaled_unit.hpp"

namespace d5::detail {
namespace {

constexpr double kAir = 0.04;  // margin beyond each end, as a share of the extent

/// The smallest of 1, 2, 5, 10, ... that is at least `step`.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (step <= digit * power * (1 + 1e-9)) return digit * power;
  }
  return 10 * power;
}

std::string joined(const std::string& label, const std::string& unit) {
  return unit.empty() ? label : fmt::format("{} ({})", label, unit);
}

}  // namespace

void Extent::include(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

AxisScale::AxisScale(const PlotAxis& axis, Extent extent, double from, double to, int most_ticks)
    : logarithmic_(axis.scale == PlotAxis::Scale::logarithmic), from_(from), to_(to) {
  if (!axis.names.empty()) extent = {-0.5, double(axis.names.size()) - 0.5};
  if (extent.empty()) extent = logarithmic_ ? Extent{1, 10} : Extent{0, 1};
  if (logarithmic_) {
    using Limits = std::numeric_limits<double>;
    const double decades = std::log(extent.high) - std::log(extent.low);
    const double air = std::max(std::exp(kAir * decades), 1.005);
    low_ = std::max(extent.low / air, Limits::min());
    high_ = std::min(extent.high * air, Limits::max());
  } else {
    double width = extent.high - extent.low;
    if (width <= 0) width = extent.high == 0 ? 1 : std::abs(extent.high) * 0.1;
    low_ = extent.low == 0 ? 0 : extent.low - kAir * width;
    high_ = extent.high == 0 ? 0 : extent.high + kAir * width;
    if (low_ == high_) high_ = low_ + width;
  }
  constexpr double kOneDecade = 8;  // below this ratio, decades alone give too few ticks
  if (!axis.names.empty()) {
    add_named_ticks(axis, most_ticks);
  } else if (logarithmic_ && high_ / low_ >= kOneDecade) {
    add_decades(axis, most_ticks);
  } else {
    add_linear_ticks(axis, most_ticks);
  }
}

bool AxisScale::shows(double value) const {
  return std::isfinite(value) && (!logarithmic_ || value > 0);
}

double AxisScale::operator()(double value) const {
  const double share = logarithmic_
                           ? (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_))
                           : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

void AxisScale::add_named_ticks(const PlotAxis& axis, int most) {
  const auto count = int(axis.names.size());
  for (int i = 0; i < count; i += std::max(1, count / std::max(most, 1))) {
    ticks_.push_back({double(i), axis.names[std::size_t(i)]});
  }
  title_ = joined(axis.label, axis.unit);
}

void AxisScale::add_linear_ticks(const PlotAxis& axis, int most) {
  const auto unit = scaled_unit(std::max(std::abs(low_), std::abs(high_)), axis.unit);
  double step = round_step((high_ - low_) / most);
  const auto ticks_of = [&](double each) {
    return std::floor(high_ / each) - std::ceil(low_ / each);
  };
  // Two at least, to read a distance: the next smaller steps.
  for (int i = 0; i < 2 && ticks_of(step) < 1; ++i) step = round_step(0.4 * step);
  if (axis.scale == PlotAxis::Scale::whole) step = std::max(step, 1.0);
  const int digits = std::clamp(-int(std::floor(std::log10(step / unit.divisor) + 1e-9)), 0, 12);
  const double largest = std::max(std::abs(low_), std::abs(high_)) / unit.divisor;
  const bool plain = largest < 1e6 && digits <= 6;
  // As many digits as distinguish neighbouring ticks.
  const int significant =
      std::clamp(int(std::ceil(std::log10(largest * unit.divisor / step))) + 1, 3, 15);
  for (double i = std::ceil(low_ / step - 1e-9); i * step <= high_ * (1 + 1e-12); ++i) {
    const double value = i * step / unit.divisor + 0.0;  // never -0
    ticks_.push_back({i * step, plain ? fmt::format("{:.{}f}", value, digits)
                                      : fmt::format("{:.{}g}", value, significant)});
    if (ticks_.size() > 100) break;  // steps below floating-point resolution
  }
  title_ = joined(axis.label, unit.name);
}

void AxisScale::add_decades(const PlotAxis& axis, int most) {
  title_ = axis.label;
  const int first = int(std::floor(std::log10(low_))), last = int(std::floor(std::log10(high_)));
  const auto fill = [&](std::initializer_list<double> digits, int stride) {
    ticks_.clear();
    for (int power = first; power <= last; power += stride) {
      for (const double digit : digits) {
        const double value = digit * std::pow(10.0, power);
        if (value < low_ || value > high_) continue;
        const auto unit = scaled_unit(value * (1 + 1e-9), axis.unit);
        const std::string number = fmt::format("{:.6g}", value / unit.divisor);
        ticks_.push_back({value, unit.name.empty() ? number : number + " " + unit.name});
      }
    }
  };
  fill({1, 2, 5}, 1);
  if (int(ticks_.size()) > most + 1) fill({1}, std::max(1, (last - first) / most));
}

}  // namespace d5::detail
