// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/statistics.hpp"

namespace d5::detail {

/// a over b, of two positive numbers that were not measured in turns: as wide as both intervals
/// allow.
inline Estimate ratio_estimate(const Estimate& a, const Estimate& b) {
  return {a.value / b.value,
          {a.interval.low / b.interval.high, a.interval.high / b.interval.low},
          a.confidence};
}

}  // namespace d5::detail
