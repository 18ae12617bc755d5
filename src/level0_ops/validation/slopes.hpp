// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "level0_ops/validation/differentiable_case.hpp"

namespace d5::detail {

/// Local shape of a function at a point, along a direction.
enum class Shape1d {
  smooth,
  kink,       ///< slopes on both sides differ
  jump,       ///< discontinuous value
  undefined,  ///< not a number at the point, or at all nearby points
};

/// Interval of correct derivatives.
struct SlopeRange {
  double low, high;

  void include(double slope);
  /// Distance of `slope` from the interval, relative to max(1, |the nearest end|); NaN for NaN.
  [[nodiscard]] double distance(double slope) const;
};

/// Slopes of all outputs of a case along the direction `u` of its input `i`, in float64.
///
/// At a kink, the derivative is a set: the interval of the slopes nearby (Clarke's generalized
/// gradient). Nearby slopes are taken at random points, to which all inputs move: along a single
/// direction, the second largest of three equal numbers has no slope. A jump also has slopes
/// nearby, but none at the point. Source: Clarke, Optimization and Nonsmooth Analysis (1983), 2.5.
class Slopes {
 public:
  /// `step` is along `u`; `width` is the distance of nearby points, relative to max(1, |x|);
  /// `tolerance` is relative to max(1, |slope|).
  Slopes(DifferentiableCase& function, std::size_t i, std::vector<double> u, double step,
         double width, double tolerance, RandomStream random);

  [[nodiscard]] std::size_t size() const { return middle_.size(); }
  [[nodiscard]] Shape1d shape(std::size_t k) const { return shapes_[k]; }
  /// The central difference of output `k`; meaningful only if it is smooth.
  [[nodiscard]] double central(std::size_t k) const { return central_[k]; }
  /// Distance of `slope` from the correct slopes of output `k`, relative to max(1, |correct
  /// slope|). If the known slopes are not sufficient, checks nearby points until one is, unless
  /// `may_look` is false; this may reveal a kink at an apparently smooth point.
  [[nodiscard]] double distance(std::size_t k, double slope, bool may_look);
  /// Checks this number of nearby points for kinks that the slopes at the point do not show.
  void look(int places);
  [[nodiscard]] const SlopeRange& range(std::size_t k) const { return ranges_[k]; }

 private:
  std::vector<double> at(double step, const std::vector<std::vector<double>>& base);
  [[nodiscard]] double allowed(double slope) const;
  [[nodiscard]] double rounding(std::size_t k, double step) const;
  void classify();
  void classify_sharp(std::size_t k, double right, double left, double wide_right,
                      double wide_left);
  void look_beside();
  void settle(std::size_t k);

  DifferentiableCase* function_;
  std::size_t i_;
  std::vector<double> u_;
  double step_, width_, tolerance_;
  RandomStream random_;
  std::vector<double> middle_, central_, gaps_;
  std::vector<Shape1d> shapes_;
  std::vector<SlopeRange> ranges_;
  int looked_ = 0;
};

}  // namespace d5::detail
