// SPDX-License-Identifier: Apache-2.0
#include "evaluation/analysis/cell_plot.hpp"

#include <fmt/format.h>

#include <cmath>

#include "d5/core/results.hpp"

namespace d5::detail {
namespace {

bool has_interval(const Estimate& estimate) {
  return estimate.interval.low <= estimate.interval.high;
}

}  // namespace

std::string value_text(const std::optional<Estimate>& estimate, const std::string& unit) {
  return estimate && !std::isnan(estimate->value) ? with_prefix(estimate->value, unit) : "";
}

std::string interval_text(const std::optional<Estimate>& estimate, const std::string& unit) {
  if (!estimate || !has_interval(*estimate)) return "";
  return fmt::format("[{}, {}]", with_prefix(estimate->interval.low, unit),
                     with_prefix(estimate->interval.high, unit));
}

Plot rows_plot(Plot plot, const std::vector<std::string>& rows,
               const std::vector<RowSeries>& series) {
  for (const auto& row : rows) plot.rows.push_back({.label = row, .lanes = series.size()});
  for (std::size_t s = 0; s < series.size(); ++s) {
    plot.series.push_back(series.size() > 1 ? series[s].name : "");
    PlotMark dots{.shape = PlotMark::Shape::dots, .series = s};
    PlotMark intervals{.shape = PlotMark::Shape::interval, .series = s};
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto& value = series[s].values[row];
      if (!value) continue;
      const double y = double(row) + (double(s) + 0.5) / double(series.size());
      dots.points.push_back({value->value, y});
      if (!has_interval(*value)) continue;
      intervals.points.push_back({value->interval.low, y});
      intervals.points.push_back({value->interval.high, y});
    }
    plot.marks.push_back(std::move(intervals));
    plot.marks.push_back(std::move(dots));
  }
  return plot;
}

Plot curves_plot(Plot plot, const std::vector<Curve>& curves) {
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const auto& [name, x, y] = curves[c];
    plot.series.push_back(name);
    PlotMark line{.shape = PlotMark::Shape::line, .series = c};
    PlotMark dots{.shape = PlotMark::Shape::dots, .series = c};
    PlotMark intervals{.shape = PlotMark::Shape::interval, .series = c};
    for (std::size_t i = 0; i < x.size(); ++i) {
      line.points.push_back({x[i], y[i].value});
      if (!has_interval(y[i])) continue;
      intervals.points.push_back({x[i], y[i].interval.low});
      intervals.points.push_back({x[i], y[i].interval.high});
    }
    dots.points = line.points;
    for (auto* mark : {&line, &intervals, &dots}) plot.marks.push_back(std::move(*mark));
  }
  return plot;
}

}  // namespace d5::detail
