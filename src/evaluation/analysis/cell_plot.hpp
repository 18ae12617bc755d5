// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/core/statistics/statistics.hpp"

namespace d5::detail {

/// "1.25 ms", and "[1.20 ms, 1.31 ms]"; empty without a value.
[[nodiscard]] std::string value_text(const std::optional<Estimate>& estimate,
                                     const std::string& unit);
[[nodiscard]] std::string interval_text(const std::optional<Estimate>& estimate,
                                        const std::string& unit);

/// A plot of rows with a dot and an interval for each series, over a numeric axis.
class RowsPlot {
 public:
  explicit RowsPlot(std::vector<std::string> series) : series_(std::move(series)) {}
  /// `values` has one number per series; missing ones are left out.
  void add(std::string row, std::vector<std::optional<Estimate>> values);
  /// Appends `plot` with the rows to `plots`, if there are any.
  void draw(Plot plot, std::vector<Plot>& plots) const;

 private:
  struct Row {
    std::string name;
    std::vector<std::optional<Estimate>> values;
  };
  std::vector<std::string> series_;
  std::vector<Row> rows_;
};

/// Adds a line with dots and intervals.
struct Curve {
  std::string name;
  std::vector<double> x;
  std::vector<Estimate> y;
};
[[nodiscard]] Plot curves_plot(Plot plot, const std::vector<Curve>& curves);

}  // namespace d5::detail
