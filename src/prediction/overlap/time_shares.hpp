// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

#include "d5/core/clocks/clock.hpp"

namespace d5::detail {

/// A time that pieces of work have together, from now on: one after the other asks for its own.
class TimeShares {
 public:
  /// `most_seconds` 0: they have as long as they want.
  TimeShares(double most_seconds, std::size_t pieces)
      : end_(most_seconds > 0 ? now_seconds() + most_seconds
                              : std::numeric_limits<double>::infinity()),
        left_(pieces) {}
  /// An equal part of what is left. Units: s; infinite: no end.
  double next() { return (end_ - now_seconds()) / static_cast<double>(left_--); }

 private:
  double end_;
  std::size_t left_;
};

}  // namespace d5::detail
