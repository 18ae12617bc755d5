// SPDX-License-Identifier: Apache-2.0
#include "evaluation/analysis/cell_plot.hpp"

#include <fmt/format.h>

#include <cmath>

#include "d5/core/results/results.hpp"

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

void RowsPlot::add(std::string row, std::vector<std::optional<Estimate>> values) {
  rows_.push_back({std::move(row), std::move(values)});
}

void RowsPlot::draw(Plot plot, std::vector<Plot>& plots) const {
  if (rows_.empty()) return;
  for (const Row& row : rows_) plot.rows.push_back({.label = row.name, .lanes = series_.size()});
  for (std::size_t s = 0; s < series_.size(); ++s) {
    plot.series.push_back(series_.size() > 1 ? series_[s] : "");
    PlotMark dots{.shape = PlotMark::Shape::dots, .series = s};
    PlotMark intervals{.shape = PlotMark::Shape::interval, .series = s};
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto& value = rows_[row].values[s];
      if (!value) continue;
      const double y = double(row) + (double(s) + 0.5) / double(series_.size());
      dots.points.push_back({value->value, y});
      if (!has_interval(*value)) continue;
      intervals.points.push_back({value->interval.low, y});
      intervals.points.push_back({value->interval.high, y});
    }
    plot.marks.push_back(std::move(intervals));
    plot.marks.push_back(std::move(dots));
  }
  plots.push_back(std::move(plot));
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
