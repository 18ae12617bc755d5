// SPDX-License-Identifier: Apache-2.0
// The statistic of each record with its interval, as bars, or as dots if bars would mislead;
// ratios.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "core/report/figures.hpp"
#include "d5/core/results/ratio_summary.hpp"
#include "d5/core/statistics/geometric_mean.hpp"

namespace d5::detail {
namespace {

using MarkShape = PlotMark::Shape;

/// Bars begin at 0, so they are invisible for values over two decades or more.
bool spans_decades(const Figures& figures) {
  constexpr double kMostForBars = 50;
  double least = 0, most = 0;
  for (const auto& figure : figures) {
    const double value = std::abs(figure.estimate.value);
    if (value > 0 && (least == 0 || value < least)) least = value;
    most = std::max(most, std::isfinite(value) ? value : 0);
  }
  return most > kMostForBars * least;
}

/// Adds `mark` and its interval, with the label after the longer one.
void add_value(Plot& plot, const Figure& figure, const RowPlaces::Place& place, PlotMark mark) {
  mark.series = figure.number;
  mark.tip = figure.tip;
  const auto [low, high] = figure.estimate.interval;
  if (!(low < high)) {
    mark.label = figure.label;
    plot.marks.push_back(std::move(mark));
    return;
  }
  PlotMark interval{.shape = MarkShape::interval,
                    .series = figure.number,
                    .points = {{low, place.y}, {high, place.y}},
                    .label = figure.label,
                    .tip = figure.tip};
  if (mark.shape == MarkShape::dots) std::swap(mark, interval);  // a dot is drawn over its interval
  plot.marks.push_back(std::move(mark));
  plot.marks.push_back(std::move(interval));
}

void add_dots(Plot& plot, const Figures& figures) {
  const RowPlaces places(plot, figures);
  for (const auto& figure : figures) {
    if (const auto place = places(figure)) {
      add_value(plot, figure, *place,
                {.shape = MarkShape::dots, .points = {{figure.estimate.value, place->y}}});
    }
  }
}

void add_bars(Plot& plot, const Figures& figures) {
  const RowPlaces places(plot, figures);
  for (const auto& figure : figures) {
    const auto place = places(figure);
    if (!place) continue;
    const double half = 0.36 * place->lane;
    if (has_several_series(plot)) {
      plot.marks.push_back(
          {.shape = MarkShape::key, .series = figure.number, .points = {{0, place->y}}});
    }
    add_value(plot, figure, *place,
              {.shape = MarkShape::box,
               .points = {{0, place->y - half}, {figure.estimate.value, place->y + half}}});
  }
}

Plot sorted_ratios(const std::string& name, const std::string& title, Figures figures) {
  std::ranges::stable_sort(figures, std::ranges::greater{},
                           [](const Figure& figure) { return figure.estimate.value; });
  Plot plot{.name = name,
            .title = title,
            .x = {.label = "ratio", .scale = PlotAxis::Scale::logarithmic},
            .marks = {{.shape = MarkShape::rule, .points = {{1, 0}}}}};
  add_dots(plot, figures);
  return plot;
}

/// Adds the mean of several pairs' ratios.
void add_mean(Plot& plot, const Figures& figures) {
  if (figures.size() < 2) return;
  std::vector<double> ratios;
  for (const auto& figure : figures) ratios.push_back(figure.estimate.value);
  const auto [mean, interval, confidence] = geometric_mean(ratios);
  if (!std::isfinite(mean)) return;
  plot.note = fmt::format("Geometric mean of {} pairs: {:.3f} {}. {}", ratios.size(), mean,
                          text_of_mean(interval), plot.note);
}

}  // namespace

Plot value_plot(const Figures& figures) {
  const Measurement& first = *figures.front().record;
  const std::string title = title_of(first.metric);
  Plot plot{.name = first.metric,
            .title = title,
            .x = {.label = words_of(first.metric), .unit = first.unit}};
  // For parts of a whole, small values may be invisible.
  const bool of_parts = !grouping_of(first).empty();
  if (!of_parts && spans_decades(figures)) {
    plot.x.scale = PlotAxis::Scale::logarithmic;
    add_dots(plot, figures);
  } else {
    add_bars(plot, figures);
  }
  return plot;
}

Plot ratio_plot(Figures figures) {
  const auto base_of = [](const Figure& figure) { return condition_of(*figure.record, "base"); };
  std::set<std::string> bases;
  for (const auto& figure : figures) bases.insert(base_of(figure));
  const std::string metric = figures.front().record->metric;
  std::string title = title_of(metric);
  if (bases.size() == 1 && !bases.begin()->empty()) title += " to " + *bases.begin();
  std::vector<std::string> series;  // separate series if a framework has several bases
  for (auto& figure : figures) {
    if (bases.size() < 2) break;
    if (!base_of(figure).empty()) figure.series += " / " + base_of(figure);
    const auto place = std::ranges::find(series, figure.series);
    figure.number = std::size_t(place - series.begin());
    if (place == series.end()) series.push_back(figure.series);
  }
  return sorted_ratios(metric, title, std::move(figures));
}

std::vector<Plot> pair_plots(const std::vector<ResultPair>& pairs) {
  std::vector<Measurement> all;
  for (const auto& pair : pairs) all.push_back(pair.a);
  const auto conditions = telling_conditions(all);
  std::map<std::string, Figures> by_metric;
  std::vector<std::string> frameworks;
  for (const auto& pair : pairs) {
    const Measurement &a = pair.a, &b = pair.b;
    // Rates and ratios repeat the time; errors are not comparable as lengths.
    const bool told = a.quantity == Quantity::rate || a.quantity == Quantity::ratio ||
                      a.quantity == Quantity::error;
    if (told) continue;
    RowWords words = row_words(a, conditions);
    const std::string row = full_name(words), ratio = fmt::format("{:.3f}", pair.ratio);
    const std::string framework =
        a.framework == b.framework ? a.framework : a.framework + " to " + b.framework;
    auto number = std::ranges::find(frameworks, framework);
    if (number == frameworks.end()) number = frameworks.insert(number, framework);
    by_metric[a.metric].push_back(
        {&a,
         std::move(words),
         row,
         framework,
         std::size_t(number - frameworks.begin()),
         {pair.ratio, pair.interval, 0.95},
         ratio,
         fmt::format("{}, {}, {}: B / A = {}", row, framework, a.metric, ratio)});
  }
  std::vector<Plot> plots;
  for (auto& [metric, figures] : by_metric) {
    const std::string shared = name_rows(figures);
    plots.push_back(sorted_ratios("ratio-" + metric, title_of(metric) + ", B / A", figures));
    if (!shared.empty()) plots.back().title += ": " + shared;
    if (figures.front().record->quantity == Quantity::time) add_mean(plots.back(), figures);
  }
  return plots;
}

}  // namespace d5::detail
