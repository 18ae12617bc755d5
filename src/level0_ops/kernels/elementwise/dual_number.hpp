// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace d5::detail {

/// A number and its slope along one variable: a formula of duals is differentiated as it is
/// computed ("forward mode").
///
///     Dual x{2, 1};              // x itself has slope 1
///     Dual y = x * x + 3;        // y.value is 7, y.slope is 4
struct Dual {
  double value = 0, slope = 0;

  /// A number alone does not move.
  Dual(double number = 0, double slope_of_it = 0) : value(number), slope(slope_of_it) {}

  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Dual operator/(Dual a, Dual b) {
    const double quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
  }
  /// Flat in what does not move, at zero too.
  friend Dual sqrt(Dual a) {
    const double root = std::sqrt(a.value);
    return {root, a.slope == 0 ? 0 : a.slope / (2 * root)};
  }
};

}  // namespace d5::detail
