// SPDX-License-Identifier: Apache-2.0
// The plots that a report's results support.
#include <algorithm>
#include <iterator>

#include "core/report/figures.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

using detail::Figures;

bool all_curves(const Figures& figures) { return std::ranges::all_of(figures, detail::is_curve); }

/// Whether a figure has repeated samples that are not all equal.
bool has_distribution(const detail::Figure& figure) {
  constexpr std::size_t kFewest = 6;  // minimum for an interval of the median
  const Measurement& m = *figure.record;
  if (m.statistic.of != Statistic::Of::quantile || m.samples.size() < kFewest) return false;
  // The samples of a rate or a ratio repeat those of its time.
  if (m.quantity == Quantity::rate || m.quantity == Quantity::ratio || is_curve(figure))
    return false;
  return std::ranges::any_of(m.samples, [&](double s) { return s != m.samples.front(); });
}

/// Whether all figures are one counted number, which a picture would only repeat.
bool is_constant(const Figures& figures) {
  return std::ranges::all_of(figures, [&](const detail::Figure& figure) {
    const auto& [value, interval, confidence] = figure.estimate;
    return value == figures.front().estimate.value && !(interval.low < interval.high);
  });
}

/// Figures with samples to draw: of several percentiles of the same samples, the first.
Figures distributions_of(const Figures& figures) {
  Figures result;
  for (const auto& figure : figures) {
    const auto repeats = [&](const detail::Figure& other) {
      return other.row == figure.row && other.number == figure.number &&
             other.record->samples == figure.record->samples;
    };
    if (has_distribution(figure) && std::ranges::none_of(result, repeats)) result.push_back(figure);
  }
  return result;
}

/// Whether analyses of evaluations are among the plots. They draw these records by their cells.
bool has_analyses(const std::vector<Plot>& plots) {
  return std::ranges::any_of(plots,
                             [](const Plot& plot) { return plot.name.starts_with("evaluation-"); });
}

/// Sorts the most expensive part first.
void sort_by_value(Figures& figures) {
  std::ranges::stable_sort(figures, std::ranges::greater{},
                           [](const detail::Figure& figure) { return figure.estimate.value; });
}

}  // namespace

std::vector<Plot> plots_of(const Report& report) {
  std::vector<Plot> curves, seeds, ratios, values, sweeps, samples;
  Figures flop_rates, byte_rates;
  const bool is_analysed = has_analyses(report.plots);
  for (auto& figures : detail::figures_by_metric(report.sources)) {
    const Measurement& first = *figures.front().record;
    if (first.level == "evaluation" && is_analysed) continue;
    const std::string by = detail::grouping_of(first);
    if (by.empty() && first.metric == "flop_rate") flop_rates = figures;
    if (by.empty() && first.metric == "byte_rate") byte_rates = figures;
    const bool is_swept = by.empty() && first.quantity != Quantity::error && !all_curves(figures);
    if (is_swept) std::ranges::move(detail::sweep_plots(figures), std::back_inserter(sweeps));
    const std::string shared = detail::name_rows(figures);
    const auto add = [&](std::vector<Plot>& group, Plot plot) {
      if (!by.empty()) plot.name += "-by-" + by, plot.title += ", by " + by;
      if (!shared.empty()) plot.title += ": " + shared;
      group.push_back(std::move(plot));
    };
    if (all_curves(figures)) {
      add(curves, detail::curve_plot(figures));
      continue;
    }
    if (first.quantity == Quantity::ratio) {
      add(ratios, detail::ratio_plot(figures));
      continue;
    }
    if (detail::is_of_runs(first)) {
      std::erase_if(figures, [](const auto& figure) { return figure.record->samples.size() < 2; });
      if (!figures.empty()) add(seeds, detail::run_plot(figures));
      continue;
    }
    if (!by.empty()) sort_by_value(figures);
    if (figures.size() > 1 && !is_constant(figures)) add(values, detail::value_plot(figures));
    if (!by.empty()) continue;  // intervals suffice for many parts
    const Figures repeated = distributions_of(figures);
    if (!repeated.empty()) add(samples, detail::sample_plot(repeated));
  }
  std::vector<Plot> plots = detail::pair_plots(report.pairs);
  for (auto* group : {&seeds, &curves, &ratios, &values, &sweeps, &samples}) {
    std::ranges::move(*group, std::back_inserter(plots));
  }
  if (!flop_rates.empty() && !byte_rates.empty()) {
    plots.push_back(detail::roofline_plot(flop_rates, byte_rates, report.sources));
  }
  std::ranges::copy(report.plots, std::back_inserter(plots));
  return plots;
}

Plot plot_named(const std::vector<Plot>& plots, const std::string& name) {
  if (plots.empty()) {
    throw ValueError(
        "nothing to plot: no record has samples that a plot would show; a table shows them");
  }
  if (name.empty()) return plots.front();
  std::vector<std::string> known;
  for (const auto& plot : plots) {
    if (plot.name == name) return plot;
    known.push_back(plot.name);
  }
  throw_unknown_name("plot", name, known);
}

}  // namespace d5
