// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/slopes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace d5::detail {
namespace {

/// A gap between the slopes on both sides is a kink if it persists for a step that is finer by this
/// factor.
constexpr double kFiner = 16;
/// Distance of neighbouring points, and the step there, in steps.
constexpr double kBeside = 1.0 / 4, kStepBeside = 1.0 / 64;
/// A wider gap, relative to max(1, |slope|), is a jump.
constexpr double kSteepest = 1e4;
/// Limit of neighbouring points: among ten equal numbers, each has been the k-th largest with
/// probability 1 - 2e-12.
constexpr int kMostPlaces = 256;

/// Error bound of a value, in roundings.
constexpr double kRoundings = 100;

SlopeRange nothing() { return {HUGE_VAL, -HUGE_VAL}; }
bool is_nothing(const SlopeRange& range) { return range.low > range.high; }

}  // namespace

void SlopeRange::include(double slope) {
  if (!std::isfinite(slope)) return;
  low = std::min(low, slope);
  high = std::max(high, slope);
}

double SlopeRange::distance(double slope) const {
  if (is_nothing(*this)) return HUGE_VAL;
  if (slope >= low && slope <= high) return 0;
  const double end = slope < low ? low : high;
  return std::fabs(slope - end) / std::max(1.0, std::fabs(end));
}

Slopes::Slopes(DifferentiableCase& function, std::size_t i, std::vector<double> u, double step,
               double width, double tolerance, RandomStream random)
    : function_(&function),
      i_(i),
      u_(std::move(u)),
      step_(step),
      width_(width),
      tolerance_(tolerance),
      random_(random) {
  function_->put_back();
  middle_ = function_->values();
  classify();
  function_->put_back();
}

double Slopes::distance(std::size_t k, double slope, bool may_look) {
  if (shapes_[k] == Shape1d::undefined) return 0;
  while (may_look && !(ranges_[k].distance(slope) <= tolerance_) && looked_ < kMostPlaces) {
    look_beside();
  }
  settle(k);
  if (shapes_[k] == Shape1d::undefined) return 0;
  if (shapes_[k] != Shape1d::smooth) return ranges_[k].distance(slope);
  return SlopeRange{central_[k], central_[k]}.distance(slope);
}

void Slopes::look(int places) {
  while (looked_ < places) look_beside();
  for (std::size_t k = 0; k < size(); ++k) settle(k);
}

std::vector<double> Slopes::at(double step, const std::vector<std::vector<double>>& base) {
  std::vector<double> x = base[i_];
  for (std::size_t k = 0; k < x.size(); ++k) x[k] += step * u_[k];
  (void)function_->put(i_, x);
  return function_->values();
}

double Slopes::allowed(double slope) const { return tolerance_ * std::max(1.0, std::fabs(slope)); }

double Slopes::rounding(std::size_t k, double step) const {
  return kRoundings * std::numeric_limits<double>::epsilon() * std::fabs(middle_[k]) / step;
}

void Slopes::classify() {
  std::vector<std::vector<double>> base;
  for (std::size_t i = 0; i < function_->inputs(); ++i) base.push_back(function_->start(i));
  const std::size_t count = middle_.size();
  const auto above = at(step_, base), below = at(-step_, base);
  central_.resize(count);
  gaps_.resize(count);
  shapes_.assign(count, Shape1d::smooth);
  ranges_.assign(count, nothing());
  std::vector<std::size_t> sharp;
  for (std::size_t k = 0; k < count; ++k) {
    central_[k] = (above[k] - below[k]) / (2 * step_);
    gaps_[k] = std::fabs(above[k] - 2 * middle_[k] + below[k]) / step_;
    ranges_[k] = {central_[k], central_[k]};
    const bool is_smooth = gaps_[k] <= allowed(central_[k]) + rounding(k, step_);
    if (!is_smooth) sharp.push_back(k);
  }
  if (sharp.empty()) return;
  const double finer = step_ / kFiner;
  const auto just_above = at(finer, base), just_below = at(-finer, base);
  for (const std::size_t k : sharp) {
    classify_sharp(k, (just_above[k] - middle_[k]) / finer, (middle_[k] - just_below[k]) / finer,
                   (above[k] - middle_[k]) / step_, (middle_[k] - below[k]) / step_);
  }
}

void Slopes::classify_sharp(std::size_t k, double right, double left, double wide_right,
                            double wide_left) {
  const double gap = std::fabs(right - left), slope = (right + left) / 2;
  SlopeRange& range = ranges_[k];
  if (!std::isfinite(middle_[k])) {
    shapes_[k] = Shape1d::undefined;
  } else if (gap <= std::max(allowed(slope) + rounding(k, step_ / kFiner), gaps_[k] * 2 / kFiner)) {
    // Curved rather than a kink; or a kink nearby, within the wider step.
    if (!(std::fabs(slope - central_[k]) <= allowed(slope))) central_[k] = slope;
    range = {central_[k], central_[k]};
  } else if (gap > gaps_[k] * kFiner / 2) {
    shapes_[k] = Shape1d::jump;
    range = nothing();
  } else {
    shapes_[k] = Shape1d::kink;
    range = nothing();
    range.include(right);
    range.include(left);
    if (std::isfinite(gap)) return;
    // The boundary of the domain. A slope that grows as its step shrinks is infinite.
    const double fine = std::isfinite(right) ? right : left;
    const double wide = std::isfinite(right) ? wide_right : wide_left;
    if (std::fabs(fine) > 1.1 * std::fabs(wide)) {
      (fine > 0 ? range.high : range.low) = std::copysign(HUGE_VAL, fine);
    }
  }
}

void Slopes::look_beside() {
  ++looked_;
  std::vector<std::vector<double>> base;
  for (std::size_t i = 0; i < function_->inputs(); ++i) {
    std::vector<double>& x = base.emplace_back(function_->start(i));
    if (!function_->has_gradient(i)) continue;
    for (double& value : x) {
      const double most = width_ * kBeside * std::max(1.0, std::fabs(value));
      value += most * (2 * random_.uniform_double() - 1);
    }
    (void)function_->put(i, x);
  }
  const auto middle = function_->values();
  const double step = step_ * kStepBeside;
  const auto above = at(step, base), below = at(-step, base);
  function_->put_back();
  for (std::size_t k = 0; k < size(); ++k) {
    const double slope = (above[k] - below[k]) / (2 * step);
    const double gap = std::fabs(above[k] - 2 * middle[k] + below[k]) / step;
    // There is no slope across a jump. Across a kink, it is between those on both sides.
    const double most = shapes_[k] == Shape1d::jump
                            ? allowed(slope) + rounding(k, step)
                            : kSteepest * std::max(1.0, std::fabs(central_[k]));
    if (gap <= most) ranges_[k].include(slope);
  }
}

void Slopes::settle(std::size_t k) {
  const SlopeRange& range = ranges_[k];
  if (shapes_[k] == Shape1d::smooth) {
    // A curved function also has other slopes nearby: within a quarter step by half the gap.
    const double noise = 4 * (allowed(central_[k]) + rounding(k, step_));
    const double bend = 0.75 * gaps_[k];
    if (range.high - range.low > std::max(noise, bend)) shapes_[k] = Shape1d::kink;
  } else if (looked_ >= kMostPlaces && is_nothing(range)) {
    shapes_[k] = Shape1d::undefined;
  }
}

}  // namespace d5::detail
