// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "level0_ops/validation/differentiable_case.hpp"

namespace d5::detail {

/// What a function is like at a place, along a direction.
enum class Shape1d {
  smooth,
  kink,       ///< slopes to either side differ
  jump,       ///< its value differs beside the place
  undefined,  ///< it is no number there, or nowhere beside
};

/// Slopes between which a derivative is right.
struct SlopeRange {
  double low, high;

  void include(double slope);
  /// How far `slope` is outside, relative to max(1, |the nearest end|); NaN for NaN.
  [[nodiscard]] double distance(double slope) const;
};

/// Slopes of all outputs of a case along the direction `u` of its input `i`, in float64.
///
/// At a kink the derivative is a set: all that lies between the slopes beside it (Clarke's
/// generalized gradient). Slopes beside are those at places drawn close by, which all inputs move
/// to: along one direction alone, the second largest of three equal numbers has no slope. A jump
/// has slopes beside it, too, though none at it.
/// Source: Clarke, Optimization and Nonsmooth Analysis (1983), 2.5.
class Slopes {
 public:
  /// `step` is along `u`, `width` is that of places beside, relative to max(1, |x|); `tolerance` is
  /// relative to max(1, |slope|).
  Slopes(DifferentiableCase& function, std::size_t i, std::vector<double> u, double step,
         double width, double tolerance, RandomStream random);

  [[nodiscard]] std::size_t size() const { return middle_.size(); }
  [[nodiscard]] Shape1d shape(std::size_t k) const { return shapes_[k]; }
  /// By central differences; means something where it is smooth.
  [[nodiscard]] double central(std::size_t k) const { return central_[k]; }
  /// How far `slope` is from what is right for output `k`, relative to max(1, |what is right|).
  /// Looks at places beside it where the slopes at hand do not settle it, until one does, unless
  /// `may_look` is false; what looked smooth may turn out to be a kink by that.
  [[nodiscard]] double distance(std::size_t k, double slope, bool may_look);
  /// Looks at so many places beside it for kinks that no slope at the place itself shows.
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
