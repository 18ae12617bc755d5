// SPDX-License-Identifier: Apache-2.0
// FLOP/s over FLOP a byte. Source: Williams, Waterman and Patterson, "Roofline: An Insightful
// Visual Performance Model for Multicore Architectures" (2009).
#include <algorithm>
#include <cmath>

#include "core/report/figures.hpp"

namespace d5::detail {
namespace {

using Shape = PlotMark::Shape;

/// What was reached at best, in both: the machine's own peaks are not known here.
void add_roof(Plot& plot, double flop_rate, double byte_rate, double low, double high) {
  const double ridge = flop_rate / byte_rate;
  std::vector<PlotPoint> points;
  for (const double intensity : {low, std::clamp(ridge, low, high), high}) {
    points.push_back({intensity, std::min(byte_rate * intensity, flop_rate)});
  }
  plot.series.emplace_back("highest rates seen here");
  plot.marks.push_back(
      {.shape = Shape::line, .series = plot.series.size() - 1, .points = std::move(points)});
}

}  // namespace

Plot roofline_plot(const Figures& flop_rates, const Figures& byte_rates) {
  Plot plot{.name = "roofline",
            .title = "Roofline",
            .note =
                "The roof is the highest rate of each kind among these points, not the "
                "machine's peak; bytes are those that an operator must move.",
            .x = {.label = "FLOP a byte", .scale = PlotAxis::Scale::logarithmic},
            .y = {.label = "FLOP/s",
                  .unit = flop_rates.front().record->unit,
                  .scale = PlotAxis::Scale::logarithmic}};
  constexpr std::size_t kMostLabels = 8;
  double most_flop = 0, most_bytes = 0, low = INFINITY, high = 0;
  for (const auto& flop : flop_rates) {
    const auto same = std::ranges::find_if(byte_rates, [&](const Figure& bytes) {
      return bytes.row == flop.row && bytes.series == flop.series;
    });
    if (same == byte_rates.end()) continue;
    const double rate = flop.estimate.value, byte_rate = same->estimate.value;
    if (!(rate > 0 && byte_rate > 0)) continue;
    const double intensity = rate / byte_rate;
    auto series = std::ranges::find(plot.series, flop.series);
    if (series == plot.series.end()) series = plot.series.insert(series, flop.series);
    const auto number = std::size_t(series - plot.series.begin());
    const auto [from, to] = flop.estimate.interval;
    if (from < to) {
      plot.marks.push_back({.shape = Shape::interval,
                            .series = number,
                            .points = {{intensity, from}, {intensity, to}}});
    }
    plot.marks.push_back(
        {.shape = Shape::dots,
         .series = number,
         .points = {{intensity, rate}},
         .label = flop_rates.size() <= kMostLabels ? flop.row.substr(0, flop.row.find(' ')) : "",
         .tip = flop.tip});
    most_flop = std::max(most_flop, rate);
    most_bytes = std::max(most_bytes, byte_rate);
    low = std::min(low, intensity);
    high = std::max(high, intensity);
  }
  if (high > 0) add_roof(plot, most_flop, most_bytes, low / 2, high * 2);
  return plot;
}

}  // namespace d5::detail
