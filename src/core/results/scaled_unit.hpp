// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// A unit with SI prefix, and the divisor of values.
struct ScaledUnit {
  double divisor = 1;
  std::string name;  ///< "ms", "GB/s"; empty for the unit "1"
};

/// The unit in which `value` has one to three digits before the point.
[[nodiscard]] ScaledUnit scaled_unit(double value, const std::string& unit);

/// `value` with `significant` digits: "1.25", "12.1", "1.30e-07".
[[nodiscard]] std::string with_digits(double value, int significant);
/// `value` rounded to the place of the last of `significant` digits of `reference`.
[[nodiscard]] std::string with_digits(double value, int significant, double reference);

/// The number of digits of `value` that an uncertainty of `width` supports: two digits of the
/// uncertainty are kept, as usual; at most six; three if the uncertainty is unknown.
[[nodiscard]] int supported_digits(double value, double width);

}  // namespace d5::detail
