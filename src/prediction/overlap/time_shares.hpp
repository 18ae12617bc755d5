// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

#include "d5/core/clocks/clock.hpp"

namespace d5::detail {

/// Divides a total time, from now on, among pieces of work that run one after the other.
class TimeShares {
 public:
  /// `most_seconds` 0: no limit.
  TimeShares(double most_seconds, std::size_t pieces)
      : end_(most_seconds > 0 ? now_seconds() + most_seconds
                              : std::numeric_limits<double>::infinity()),
        left_(pieces) {}
  /// An equal share of the remaining time. Units: s; infinite: no limit.
  double next() { return (end_ - now_seconds()) / static_cast<double>(left_--); }

 private:
  double end_;
  std::size_t left_;
};

}  // namespace d5::detail
