// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/evaluation/analysis/evaluation_cell.hpp"

namespace d5::detail {

/// "1.25 ms", and "[1.20 ms, 1.31 ms]"; empty without a value.
[[nodiscard]] std::string value_text(const std::optional<Estimate>& estimate,
                                     const std::string& unit);
[[nodiscard]] std::string interval_text(const std::optional<Estimate>& estimate,
                                        const std::string& unit);

/// A plot of rows with a dot and an interval for each series, over a numeric axis.
class RowsPlot {
 public:
  static constexpr std::size_t kMostRows = 40;
  explicit RowsPlot(std::vector<std::string> series) : series_(std::move(series)) {}
  /// `values` has one number per series; missing ones are left out.
  void add(std::string row, std::vector<std::optional<Estimate>> values);
  /// Appends `plot` with the first `kMostRows` rows to `plots`, unless all values are equal.
  void draw(Plot plot, std::vector<Plot>& plots) const;

 private:
  struct Row {
    std::string name;
    std::vector<std::optional<Estimate>> values;
  };
  [[nodiscard]] bool is_constant() const;
  std::vector<std::string> series_;
  std::vector<Row> rows_;
};

/// Appends a plot of rows, one for each cell with a value: one plot, or one for each model if a
/// single plot would be too long to read.
using CellValues = std::function<std::vector<std::optional<Estimate>>(const EvaluationCell&)>;
void draw_cells(const Plot& plot, const std::vector<std::string>& series,
                std::span<const EvaluationCell> cells, const CellValues& values,
                std::vector<Plot>& plots);

/// Adds a line with dots and intervals.
struct Curve {
  std::string name;
  std::vector<double> x;
  std::vector<Estimate> y;
};
[[nodiscard]] Plot curves_plot(Plot plot, const std::vector<Curve>& curves);

/// A bar for each number, in order, coloured by its group: the most frequent groups by name, and
/// the others together.
struct DepthBar {
  std::string name, group;
  double value;
};
[[nodiscard]] Plot depth_plot(Plot plot, const std::vector<DepthBar>& bars);

}  // namespace d5::detail
