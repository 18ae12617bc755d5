// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"

namespace d5::detail {

/// Range of the finite numbers on an axis.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value);
  [[nodiscard]] bool empty() const { return low > high; }
};

/// Maps numbers of an axis to pixels, and places its ticks.
class AxisScale {
 public:
  struct Tick {
    double value;
    std::string text;
  };

  /// Maps `extent` to the pixels `from` to `to`, with a margin; a linear end at 0 has none.
  AxisScale(const PlotAxis& axis, Extent extent, double from, double to, int most_ticks);

  [[nodiscard]] double operator()(double value) const;
  /// Whether the value can be drawn on this axis.
  [[nodiscard]] bool shows(double value) const;
  [[nodiscard]] const std::vector<Tick>& ticks() const { return ticks_; }
  /// "time (ms)"
  [[nodiscard]] const std::string& title() const { return title_; }

 private:
  void add_named_ticks(const PlotAxis& axis, int most);
  void add_linear_ticks(const PlotAxis& axis, int most);
  void add_decades(const PlotAxis& axis, int most);

  bool logarithmic_;
  double low_, high_, from_, to_;
  std::vector<Tick> ticks_;
  std::string title_;
};

}  // namespace d5::detail
