// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

/// Throws: ValueError for a limit of a comparison that is no ratio.
inline void expect_fail_limit(double fail_above) {
  if (fail_above >= 0 && std::isfinite(fail_above)) return;
  throw ValueError(fmt::format(
      "compare: fail_above is {}, expected a ratio, as 1.05, or 0 for no limit", fail_above));
}

}  // namespace d5::detail
