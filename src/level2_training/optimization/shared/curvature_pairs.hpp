// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Curvature pairs of L-BFGS: the last steps s and the changes y of the gradient along them.
class CurvaturePairs {
 public:
  explicit CurvaturePairs(std::size_t most) : most_(most) {}

  /// Skips a pair with y . s not above `least`; drops the oldest above `most` pairs.
  void add(std::vector<double> s, std::vector<double> y, double least);
  /// H g, where H approximates the inverse Hessian.
  ///
  /// Source: Nocedal, "Updating Quasi-Newton Matrices with Limited Storage" (1980), the two-loop
  /// recursion; initialised with y . s / y . y of the last pair.
  [[nodiscard]] std::vector<double> times(const std::vector<double>& g) const;

  void save(ValueMap& state) const;
  /// Throws: NotFound, TypeError, ShapeError.
  void restore(const ValueMap& state);

 private:
  struct Pair {
    std::vector<double> s, y;
    double rho;  // 1 / y . s
  };
  void push(std::vector<double> s, std::vector<double> y, double product);

  std::size_t most_;
  std::deque<Pair> pairs_;
  double diagonal_ = 1;
};

}  // namespace d5::detail
