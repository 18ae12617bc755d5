// SPDX-License-Identifier: Apache-2.0
// A metric over a condition that is a number, or a number of bytes: time over the batch, time over
// the memory limit.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/report/figures.hpp"
#include "d5/core/byte_count.hpp"
#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

using MarkShape = PlotMark::Shape;

bool is_byte_count(const std::string& text) { return text.ends_with('B'); }

std::optional<double> number_in(const std::string& text) {
  if (is_byte_count(text)) {
    try {
      return double(byte_count(text));
    } catch (const ValueError&) {
      return {};
    }
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// The figures that differ in one condition alone, by its value.
using Curve = std::map<double, const Figure*>;

/// By what they have in common, of those that have the condition. None if it is something else than
/// a number anywhere, if no two figures differ in it alone, or if two agree in it too.
std::map<std::string, Curve> curves_over(const std::string& condition, const Figures& figures) {
  std::map<std::string, Curve> curves;
  for (const auto& figure : figures) {
    RowWords others = figure.words;
    const auto word = std::ranges::find(others, condition, &RowWord::column);
    if (word == others.end() || word->text.empty()) continue;
    const auto x = number_in(word->text);
    if (!x) return {};
    others.erase(word);
    std::string name = full_name(others);
    if (!figure.series.empty()) name += (name.empty() ? "" : ", ") + figure.series;
    if (!curves[name].emplace(*x, &figure).second) return {};
  }
  const bool any = std::ranges::any_of(curves, [](const auto& c) { return c.second.size() > 1; });
  return any ? curves : std::map<std::string, Curve>();
}

/// Sizes and times are told apart by factors.
void choose_scale(PlotAxis& axis, double low, double high) {
  constexpr double kMostForLinear = 8;
  if (low > 0 && high > kMostForLinear * low) axis.scale = PlotAxis::Scale::logarithmic;
}

Plot plot_over(const std::string& condition, const Figures& figures,
               const std::map<std::string, Curve>& curves) {
  const bool in_bytes = std::ranges::any_of(figures, [&](const Figure& figure) {
    const auto word = std::ranges::find(figure.words, condition, &RowWord::column);
    return word != figure.words.end() && is_byte_count(word->text);
  });
  const Measurement& first = *figures.front().record;
  std::string name = fmt::format("{}-over-{}", first.metric, condition);
  std::ranges::replace(name, ' ', '-');
  Plot plot{.name = std::move(name),
            .title = fmt::format("{} over {}", title_of(first.metric), words_of(condition)),
            .x = {.label = words_of(condition), .unit = in_bytes ? "byte" : ""},
            .y = {.label = words_of(first.metric), .unit = first.unit}};
  double low = INFINITY, high = 0, least = INFINITY, most = 0;
  std::vector<const Figure*> firsts;
  for (const auto& [name, curve] : curves) firsts.push_back(curve.begin()->second);
  const auto numbers = line_numbers(firsts);
  auto number = numbers.begin();
  for (const auto& [name, curve] : curves) {
    PlotMark line{.shape = MarkShape::line, .series = *number++, .points = {}, .tip = name};
    for (const auto& [x, figure] : curve) {
      const auto [value, interval, confidence] = figure->estimate;
      line.points.push_back({x, value});
      low = std::min(low, x), high = std::max(high, x);
      least = std::min(least, value), most = std::max(most, value);
      if (!(interval.low < interval.high)) continue;
      plot.marks.push_back({.shape = MarkShape::interval,
                            .series = line.series,
                            .points = {{x, interval.low}, {x, interval.high}},
                            .tip = figure->tip});
    }
    plot.marks.push_back(line);
    for (const auto& [x, figure] : curve) {  // over lines and intervals
      plot.marks.push_back({.shape = MarkShape::dots,
                            .series = line.series,
                            .points = {{x, figure->estimate.value}},
                            .tip = figure->tip});
    }
    name_series(plot, line.series, name);
  }
  if (curves.size() == 1) {
    const std::string& name = curves.begin()->first;
    if (!name.empty()) plot.title += ": " + name;
    plot.series.clear();
  }
  choose_scale(plot.x, low, high);
  choose_scale(plot.y, least, most);
  return plot;
}

}  // namespace

std::vector<Plot> sweep_plots(const Figures& figures) {
  std::vector<Plot> plots;
  std::set<std::string> conditions;
  for (const auto& figure : figures) {
    for (const auto& [condition, text] : figure.words) conditions.insert(condition);
  }
  conditions.erase("seed");  // a name, though a number
  for (const auto& condition : conditions) {
    const auto curves = curves_over(condition, figures);
    if (!curves.empty()) plots.push_back(plot_over(condition, figures, curves));
  }
  return plots;
}

}  // namespace d5::detail
