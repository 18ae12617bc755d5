// SPDX-License-Identifier: Apache-2.0
// FLOP/s over FLOP per byte. Source: Williams, Waterman and Patterson, "Roofline: An Insightful
// Visual Performance Model for Multicore Architectures" (2009).
#include <algorithm>
#include <cmath>
#include <set>

#include "core/report/figures.hpp"

namespace d5::detail {
namespace {

using MarkShape = PlotMark::Shape;

struct Roof {
  std::string name;
  double flop_rate, byte_rate;
};

/// The known peaks of all machines.
std::vector<Roof> peaks_of(const std::vector<Report::Source>& sources) {
  std::vector<Roof> roofs;
  const auto add = [&](const std::string& name, double flop_rate, double byte_rate) {
    const bool known = std::ranges::any_of(roofs, [&](const Roof& roof) {
      return roof.flop_rate == flop_rate && roof.byte_rate == byte_rate;
    });
    if (flop_rate > 0 && byte_rate > 0 && !known) roofs.push_back({name, flop_rate, byte_rate});
  };
  std::set<std::string> machines;
  for (const auto& source : sources) machines.insert(source.results.environment.hostname);
  for (const auto& source : sources) {
    const Environment& machine = source.results.environment;
    const std::string whose = machines.size() == 1 ? "" : ", " + machine.hostname;
    add("peak in float32" + whose, machine.peak_float32_flop_rate, machine.peak_byte_rate);
    add("peak in float64" + whose, machine.peak_float64_flop_rate, machine.peak_byte_rate);
  }
  return roofs;
}

/// Range of the points in FLOP per byte.
struct Extremes {
  double flop_rate = 0, byte_rate = 0, low = INFINITY, high = 0;
};

void add_roof(Plot& plot, const Roof& roof, const Extremes& extremes) {
  const double low = extremes.low / 2, high = extremes.high * 2;
  const double ridge = roof.flop_rate / roof.byte_rate;
  std::vector<PlotPoint> points;
  for (const double intensity : {low, std::clamp(ridge, low, high), high}) {
    points.push_back({intensity, std::min(roof.byte_rate * intensity, roof.flop_rate)});
  }
  plot.series.push_back(roof.name);
  plot.marks.push_back(
      {.shape = MarkShape::line, .series = plot.series.size() - 1, .points = std::move(points)});
}

/// Adds a dot for each record with both rates.
Extremes add_points(Plot& plot, const Figures& flop_rates, const Figures& byte_rates) {
  constexpr std::size_t kMostLabels = 24;
  Extremes extremes;
  for (const auto& flop : flop_rates) {
    const auto same = std::ranges::find_if(byte_rates, [&](const Figure& bytes) {
      return bytes.row == flop.row && bytes.series == flop.series;
    });
    if (same == byte_rates.end()) continue;
    const double rate = flop.estimate.value, byte_rate = same->estimate.value;
    if (!(rate > 0 && byte_rate > 0)) continue;
    const double intensity = rate / byte_rate;
    name_series(plot, flop.number, flop.series);
    const auto [from, to] = flop.estimate.interval;
    if (from < to) {
      plot.marks.push_back({.shape = MarkShape::interval,
                            .series = flop.number,
                            .points = {{intensity, from}, {intensity, to}}});
    }
    plot.marks.push_back({.shape = MarkShape::dots,
                          .series = flop.number,
                          .points = {{intensity, rate}},
                          .label = flop_rates.size() <= kMostLabels ? flop.row : "",
                          .tip = flop.tip});
    extremes.flop_rate = std::max(extremes.flop_rate, rate);
    extremes.byte_rate = std::max(extremes.byte_rate, byte_rate);
    extremes.low = std::min(extremes.low, intensity);
    extremes.high = std::max(extremes.high, intensity);
  }
  return extremes;
}

}  // namespace

Plot roofline_plot(const Figures& flop_rates, const Figures& byte_rates,
                   const std::vector<Report::Source>& sources) {
  Plot plot{.name = "roofline",
            .title = "Roofline",
            .x = {.label = "FLOP a byte", .scale = PlotAxis::Scale::logarithmic},
            .y = {.label = "FLOP/s",
                  .unit = flop_rates.front().record->unit,
                  .scale = PlotAxis::Scale::logarithmic}};
  const Extremes extremes = add_points(plot, flop_rates, byte_rates);
  if (extremes.high == 0) return plot;
  auto roofs = peaks_of(sources);
  plot.note = roofs.empty()
                  ? "The roof is the highest rate of each kind among these points: the machine's "
                    "peak was not measured ('d5 env --peak')."
                  : "The roof is what the processor reached at most; data that stay in its caches "
                    "may be above it.";
  plot.note += " Bytes are those that an operator must move.";
  if (roofs.empty()) {
    roofs.push_back({"highest rates seen here", extremes.flop_rate, extremes.byte_rate});
  }
  for (const auto& roof : roofs) add_roof(plot, roof, extremes);
  return plot;
}

}  // namespace d5::detail
