// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// The weight of an element by distance: `near` up to 1, `far` from 1 to 2; and the slopes.
/// Source: Keys, "Cubic Convolution Interpolation for Digital Image Processing" (1981), eq. 4.
template <class C>
struct CubicFilter {
  C a;

  [[nodiscard]] constexpr C near(C d) const { return ((a + 2) * d - (a + 3)) * d * d + 1; }
  [[nodiscard]] constexpr C far(C d) const { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; }
  [[nodiscard]] constexpr C near_slope(C d) const { return (3 * (a + 2) * d - 2 * (a + 3)) * d; }
  [[nodiscard]] constexpr C far_slope(C d) const { return (3 * a * d - 10 * a) * d + 8 * a; }
};

}  // namespace d5::detail
