// SPDX-License-Identifier: Apache-2.0
// Curves of loss and accuracy, with the last and the best value.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/report/figures.hpp"
#include "d5/core/results/results.hpp"

namespace d5::detail {
namespace {

using MarkShape = PlotMark::Shape;

std::string counted_by(const Measurement& m) {
  if (m.quantity == Quantity::accuracy) return "epoch";
  return m.quantity == Quantity::loss ? "batch" : "sample";
}

std::size_t best_of(const Measurement& m) {
  const auto& samples = m.samples;
  const auto best = m.direction == Direction::higher_is_better ? std::ranges::max_element(samples)
                                                               : std::ranges::min_element(samples);
  return std::size_t(best - samples.begin());
}

/// Labels beside the points of several curves would hide them; tooltips remain.
enum class Labels { yes, no };

void add_point(Plot& plot, const Measurement& m, std::size_t series, std::size_t sample,
               const std::string& word, Labels labels) {
  const std::string value = with_prefix(m.samples[sample], m.unit);
  const std::string where = fmt::format("{} {}", counted_by(m), sample + 1);
  plot.marks.push_back({.shape = MarkShape::dots,
                        .series = series,
                        .points = {{double(sample + 1), m.samples[sample]}},
                        .label = labels == Labels::yes ? word + " " + value : "",
                        .tip = fmt::format("{} {} ({})", word, value, where)});
}

/// Many points form a band, over which medians of short intervals are drawn.
void add_line(Plot& plot, PlotMark line, const std::string& counted) {
  constexpr std::size_t kMostAlone = 200, kStretches = 60;
  const auto& points = line.points;
  if (points.size() <= kMostAlone) {
    plot.marks.push_back(std::move(line));
    return;
  }
  const std::size_t length = (points.size() + kStretches - 1) / kStretches;
  PlotMark medians{.shape = MarkShape::line, .series = line.series, .points = {}, .tip = line.tip};
  for (std::size_t begin = 0; begin + length <= points.size(); begin += length) {
    std::vector<double> stretch;
    for (std::size_t i = begin; i < begin + length; ++i) stretch.push_back(points[i].y);
    medians.points.push_back(
        {(points[begin].x + points[begin + length - 1].x) / 2, summarise(stretch).median});
  }
  line.shape = MarkShape::faint_line;
  plot.note = fmt::format("Faint: each {0}; bold: the median of {1} at a time.", counted, length);
  plot.marks.push_back(std::move(line));
  plot.marks.push_back(std::move(medians));
}

bool spans_decades(const Figures& figures) {
  constexpr double kMostForLinear = 100;
  double low = INFINITY, high = 0;
  for (const auto& figure : figures) {
    for (const double sample : figure.record->samples) {
      if (!std::isfinite(sample)) continue;
      low = std::min(low, sample);
      high = std::max(high, sample);
    }
  }
  return low > 0 && high > kMostForLinear * low;
}

}  // namespace

Plot curve_plot(const Figures& figures) {
  const Measurement& first = *figures.front().record;
  const std::string title = title_of(first.metric);
  Plot plot{.name = first.metric,
            .title = title,
            .x = {.label = counted_by(first), .scale = PlotAxis::Scale::whole},
            .y = {.unit = first.unit}};
  if (spans_decades(figures)) plot.y.scale = PlotAxis::Scale::logarithmic;
  constexpr std::size_t kMostLabelled = 6;
  const Labels labels = figures.size() > kMostLabelled ? Labels::no : Labels::yes;
  std::set<std::string> rows;
  std::vector<const Figure*> lines;
  for (const auto& figure : figures) {
    rows.insert(figure.row);
    lines.push_back(&figure);
  }
  const auto numbers = line_numbers(lines);
  for (std::size_t each = 0; each < figures.size(); ++each) {
    const Figure& figure = figures[each];
    const Measurement& m = *figure.record;
    const std::size_t series = numbers[each];
    const bool both = rows.size() > 1 && !figure.series.empty();
    name_series(plot, series,
                rows.size() > 1 || figure.series.empty()
                    ? figure.row + (both ? ", " + figure.series : "")
                    : figure.series);
    PlotMark line{.shape = MarkShape::line, .series = series, .points = {}, .tip = figure.tip};
    for (std::size_t i = 0; i < m.samples.size(); ++i) {
      line.points.push_back({double(i + 1), m.samples[i]});
    }
    add_line(plot, std::move(line), counted_by(m));
    const std::size_t last = m.samples.size() - 1, best = best_of(m);
    if (m.direction == Direction::neither || best == last) {
      add_point(plot, m, series, last, best == last ? "last and best" : "last", labels);
      continue;
    }
    add_point(plot, m, series, best, "best", labels);
    add_point(plot, m, series, last, "last", labels);
  }
  return plot;
}

}  // namespace d5::detail
