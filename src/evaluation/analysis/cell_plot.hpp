// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/core/plot.hpp"
#include "d5/core/statistics.hpp"

namespace d5::detail {

/// "1.25 ms", and "[1.20 ms, 1.31 ms]"; empty where there is none.
[[nodiscard]] std::string value_text(const std::optional<Estimate>& estimate,
                                     const std::string& unit);
[[nodiscard]] std::string interval_text(const std::optional<Estimate>& estimate,
                                        const std::string& unit);

/// One series of numbers, one for each row of a plot; those that are not there are left out.
struct RowSeries {
  std::string name;
  std::vector<std::optional<Estimate>> values;
};
/// Rows with a dot and an interval for each series, over an axis of numbers.
[[nodiscard]] Plot rows_plot(Plot plot, const std::vector<std::string>& rows,
                             const std::vector<RowSeries>& series);

/// A line with dots and intervals.
struct Curve {
  std::string name;
  std::vector<double> x;
  std::vector<Estimate> y;
};
[[nodiscard]] Plot curves_plot(Plot plot, const std::vector<Curve>& curves);

}  // namespace d5::detail
