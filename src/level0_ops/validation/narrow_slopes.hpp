// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "level0_ops/validation/differentiable_case.hpp"
#include "level0_ops/validation/rounding_tolerance.hpp"

namespace d5::detail {

/// Factor between successive steps in the search for a kink or jump nearby.
inline constexpr double kStepFactor = 4;
inline constexpr std::size_t kSteps = 3;
/// Number of points around a point, and the minimal difference of slopes at a kink.
inline constexpr int kPlaces = 64;
inline constexpr double kSharp = 0.25;

/// Outputs at one and two steps from a point.
struct Stride {
  std::vector<double> above, below, far_above, far_below;
  double step;  ///< rounded to the type
};

/// A slope and its error bound.
struct Slope {
  double value, uncertain;
};

/// Slopes of all outputs by an element of an input.
class NarrowSlopes {
 public:
  using Factors = std::vector<std::pair<std::size_t, double>>;  ///< v of v^T F, by outputs

  NarrowSlopes(DifferentiableCase& function, std::size_t i, std::size_t column, double step,
               ForwardTolerance rounding)
      : function_(function),
        i_(i),
        column_(column),
        rounding_(rounding),
        spacing_(spacing_of(function.widest())) {
    function.put_back();
    middle_ = function.values();
    std::vector<double> x = function.start(i);
    const double before = x[column];
    step *= std::max(1.0, std::fabs(before));
    const auto at = [&](double moved, std::vector<double>& outputs) {
      x[column] = before + moved;
      const double place = function.put(i, x)[column];
      outputs = function.values();
      return place;
    };
    for (std::size_t j = 0; j < kSteps; ++j, step /= kStepFactor) {
      Stride& s = strides_.emplace_back();
      const double high = at(step, s.above), low = at(-step, s.below);
      s.step = (high - low) / 2;
      (void)at(2 * s.step, s.far_above);
      (void)at(-2 * s.step, s.far_below);
    }
    function.put_back();
  }

  struct Finding {
    double error = 0;  ///< relative to max(1, |correct slope|)
    bool is_right = true;
    bool is_sharp = false;    ///< kink or jump at the point
    bool is_compared = true;  ///< false if the output is not a number
    std::string where = {};
  };
  /// Judges the derivative of v^T F, which should be `slope`, by the step with the smallest error
  /// bound: a wide one if the function is smooth, a finer one near a kink.
  [[nodiscard]] Finding judge(const Factors& v, double slope) const {
    for (const auto& [k, factor] : v) {
      if (!std::isfinite(middle_[k])) return {.is_compared = false};
    }
    Slope right = central(strides_.front(), v);
    for (const Stride& stride : strides_) {
      const Slope other = central(stride, v);
      if (other.uncertain < right.uncertain) right = other;
    }
    const double off = std::fabs(slope - right.value);
    Finding result{.error = off / std::max(1.0, std::fabs(right.value))};
    if (off <= right.uncertain) return result;
    result.is_right = false;
    result.where = fmt::format("backward says {:.6g}, differences say {:.6g} ± {:.2g}", slope,
                               right.value, right.uncertain);
    return judge_sharp(v, slope, std::move(result));
  }

  /// Checks points near a wrong slope: for equal numbers, an order statistic does not change with
  /// any single one of them.
  void look_beside(const Factors& v, double slope, RandomStream random, Finding& found) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int place = 0; place < kPlaces; ++place) {
      const double sum = slope_beside(v, random);
      low = std::min(low, sum);
      high = std::max(high, sum);
    }
    function_.put_back();
    // A curved function also has other slopes nearby, by twice as much as on either side.
    double bend = kSharp;
    for (const auto& [k, factor] : v) {
      const Stride& s = strides_.front();
      bend += 4 * std::fabs(factor * (s.above[k] - 2 * middle_[k] + s.below[k])) / s.step;
    }
    if (high - low > bend) settle(slope, low, high, central(strides_.back(), v).uncertain, found);
  }

 private:
  [[nodiscard]] bool moves(const Stride& stride, std::size_t k) const {
    return stride.above[k] != middle_[k] || stride.below[k] != middle_[k];
  }

  [[nodiscard]] Slope central(const Stride& stride, const Factors& v) const {
    Slope result{0, 0};
    for (const auto& [k, factor] : v) {
      if (!moves(stride, k)) {  // change below the type's resolution
        result.uncertain += std::fabs(factor * middle_[k]) * spacing_ / stride.step;
        continue;
      }
      const double near = (stride.above[k] - stride.below[k]) / (2 * stride.step);
      const double far = (stride.far_above[k] - stride.far_below[k]) / (4 * stride.step);
      const double size = std::max(std::fabs(stride.above[k]), std::fabs(stride.below[k]));
      const double rounding = rounding_.absolute + rounding_.relative * size;
      result.value += factor * near;
      result.uncertain += std::fabs(factor) * (std::fabs(near - far) + rounding / stride.step);
    }
    return result;
  }

  /// At a kink for every step, all slopes between those on both sides are correct.
  [[nodiscard]] Finding judge_sharp(const Factors& v, double slope, Finding found) const {
    found.is_right = false;
    double low = 0, high = 0, uncertain = 0;
    for (const auto& [k, factor] : v) {
      const Stride &coarse = strides_.front(), &fine = strides_.back();
      if (!moves(fine, k)) continue;
      const auto gap = [&](const Stride& s) {
        return std::fabs(s.above[k] - 2 * middle_[k] + s.below[k]) / s.step;
      };
      const double size = std::max(std::fabs(fine.above[k]), std::fabs(fine.below[k]));
      const double off = 2 * (rounding_.absolute + rounding_.relative * size) / fine.step;
      double right = (fine.above[k] - middle_[k]) / fine.step;
      double left = (middle_[k] - fine.below[k]) / fine.step;
      if (!(gap(fine) > off) || gap(fine) < gap(coarse) / 2) {
        right = left = (right + left) / 2;
      } else {
        found.is_sharp = true;
        if (gap(fine) > 4 * gap(coarse)) {  // a jump nearby
          right = (fine.far_above[k] - fine.above[k]) / fine.step;
          left = (fine.below[k] - fine.far_below[k]) / fine.step;
        }
      }
      low += std::min(factor * right, factor * left);
      high += std::max(factor * right, factor * left);
      uncertain += std::fabs(factor) * off;
    }
    if (!found.is_sharp) return found;
    settle(slope, low, high, uncertain, found);
    return found;
  }

  /// The slope of v^T F at a random point nearby, to which all inputs move.
  double slope_beside(const Factors& v, RandomStream& random) {
    std::vector<double> x;
    for (std::size_t i = 0; i < function_.inputs(); ++i) {
      if (!function_.has_gradient(i)) continue;
      std::vector<double> moved = function_.start(i);
      for (double& value : moved) {
        value += strides_.front().step * (2 * random.uniform_double() - 1);
      }
      moved = function_.put(i, moved);
      if (i == i_) x = std::move(moved);
    }
    const double before = x[column_], step = strides_.back().step;
    x[column_] = before + step;
    const double top = function_.put(i_, x)[column_];
    const std::vector<double> above = function_.values();
    x[column_] = before - step;
    const double bottom = function_.put(i_, x)[column_];
    const std::vector<double> below = function_.values();
    double sum = 0;
    for (const auto& [k, factor] : v) sum += factor * (above[k] - below[k]) / (top - bottom);
    return sum;
  }

  static void settle(double slope, double low, double high, double uncertain, Finding& found) {
    found.is_sharp = true;
    found.is_right = slope >= low - uncertain && slope <= high + uncertain;
    found.where =
        fmt::format("backward says {:.6g}, slopes beside it are {:.6g} to {:.6g} ± {:.2g}", slope,
                    low, high, uncertain);
    const double outside = slope < low ? low - slope : slope <= high ? 0 : slope - high;
    found.error = outside / std::max({1.0, std::fabs(low), std::fabs(high)});
  }

  DifferentiableCase& function_;
  std::size_t i_, column_;
  ForwardTolerance rounding_;
  double spacing_;
  std::vector<double> middle_;
  std::vector<Stride> strides_;
};

}  // namespace d5::detail
