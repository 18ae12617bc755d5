// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// A unit with its SI prefix, and what a value in it has to be divided by.
struct ScaledUnit {
  double divisor = 1;
  std::string name;  ///< "ms", "GB/s"; empty for the unit "1"
};

/// The unit in which `value` has one to three digits before the point.
[[nodiscard]] ScaledUnit scaled_unit(double value, const std::string& unit);

/// `value` with `significant` digits: "1.25", "12.1", "1.30e-07".
[[nodiscard]] std::string with_digits(double value, int significant);
/// `value` cut at the place at which `reference` has its last of `significant` digits.
[[nodiscard]] std::string with_digits(double value, int significant, double reference);

/// How many digits of `value` an uncertainty of `width` leaves: two digits of the uncertainty
/// itself are kept, as is the custom; at most six; three where the uncertainty is not known.
[[nodiscard]] int supported_digits(double value, double width);

}  // namespace d5::detail
