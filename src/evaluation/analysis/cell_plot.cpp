// SPDX-License-Identifier: Apache-2.0
#include "evaluation/analysis/cell_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "d5/core/results/results.hpp"

namespace d5::detail {
namespace {

bool has_interval(const Estimate& estimate) {
  return estimate.interval.low <= estimate.interval.high;
}

/// A dot at height `y` with its interval, and its number after the longer one.
void add_dot(Plot& plot, std::size_t series, double y, const Estimate& value,
             const std::string& row) {
  const std::string text = with_prefix(value.value, plot.x.unit);
  const std::string& name = plot.series[series];
  PlotMark dot{.shape = PlotMark::Shape::dots,
               .series = series,
               .points = {{value.value, y}},
               .tip = fmt::format("{}{}{}: {} {}", row, name.empty() ? "" : ", ", name, text,
                                  interval_text(value, plot.x.unit))};
  if (has_interval(value)) {
    plot.marks.push_back({.shape = PlotMark::Shape::interval,
                          .series = series,
                          .points = {{value.interval.low, y}, {value.interval.high, y}},
                          .label = text});
  } else {
    dot.label = text;
  }
  plot.marks.push_back(std::move(dot));
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

bool RowsPlot::is_constant() const {
  std::set<std::pair<double, double>> seen;  // values, and the ends of their intervals
  std::size_t count = 0;
  for (const Row& row : rows_) {
    for (const auto& value : row.values) {
      if (!value || std::isnan(value->value)) continue;
      seen.emplace(value->value, has_interval(*value) ? value->interval.low : value->value);
      ++count;
    }
  }
  return count > 1 && seen.size() == 1;
}

void RowsPlot::draw(Plot plot, std::vector<Plot>& plots) const {
  if (rows_.empty() || is_constant()) return;
  const std::size_t count = std::min(rows_.size(), kMostRows);
  if (count < rows_.size()) {
    plot.note += fmt::format("{}The first {} rows of {}; the table has all.",
                             plot.note.empty() ? "" : " ", count, rows_.size());
  }
  for (std::size_t row = 0; row < count; ++row) {
    plot.rows.push_back({.label = rows_[row].name, .lanes = series_.size()});
  }
  for (std::size_t s = 0; s < series_.size(); ++s) {
    plot.series.push_back(series_.size() > 1 ? series_[s] : "");
    for (std::size_t row = 0; row < count; ++row) {
      const auto& value = rows_[row].values[s];
      if (!value || std::isnan(value->value)) continue;
      add_dot(plot, s, double(row) + (double(s) + 0.5) / double(series_.size()), *value,
              rows_[row].name);
    }
  }
  plots.push_back(std::move(plot));
}

void draw_cells(const Plot& plot, const std::vector<std::string>& series,
                std::span<const EvaluationCell> cells, const CellValues& values,
                std::vector<Plot>& plots) {
  constexpr std::size_t kMostTogether = 12;
  std::vector<std::string> subjects;
  std::map<std::string, std::vector<EvaluationCell>> groups;
  for (const EvaluationCell& cell : cells) {
    const std::string group = cells.size() > kMostTogether ? cell.subject : "";
    auto& place = groups[group];
    if (place.empty()) subjects.push_back(group);
    place.push_back(cell);
  }
  for (const std::string& subject : subjects) {
    const auto& group = groups[subject];
    const auto names = names_of(group);
    RowsPlot rows(series);
    for (std::size_t i = 0; i < group.size(); ++i) {
      auto row = values(group[i]);
      const bool any =
          std::ranges::any_of(row, [](const auto& value) { return value.has_value(); });
      if (any) rows.add(names[i], std::move(row));
    }
    Plot one = plot;
    if (subjects.size() > 1) {
      one.name += "-" + subject;
      one.title += ": " + subject;
    }
    rows.draw(std::move(one), plots);
  }
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

Plot depth_plot(Plot plot, const std::vector<DepthBar>& bars) {
  constexpr std::size_t kMostNamed = 5;
  std::map<std::string, double> sums;
  for (const auto& [name, group, value] : bars) sums[group] += value;
  std::vector<std::pair<std::string, double>> groups(sums.begin(), sums.end());
  std::ranges::stable_sort(groups, std::ranges::greater(), &std::pair<std::string, double>::second);
  const bool has_others = groups.size() > kMostNamed + 1;
  if (has_others) groups.resize(kMostNamed);
  for (const auto& [group, sum] : groups) plot.series.push_back(group);
  if (has_others) plot.series.emplace_back("others");
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto& [name, group, value] = bars[i];
    const auto series = std::ranges::find(plot.series, group) - plot.series.begin();
    const double x = double(i + 1);
    plot.marks.push_back({.shape = PlotMark::Shape::box,
                          .series = std::min(std::size_t(series), plot.series.size() - 1),
                          .points = {{x - 0.4, 0}, {x + 0.4, value}},
                          .tip = fmt::format("{}: {}", name, with_prefix(value, plot.y.unit))});
  }
  return plot;
}

}  // namespace d5::detail
