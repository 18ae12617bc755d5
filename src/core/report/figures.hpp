// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/report/row_names.hpp"
#include "d5/core/report/plot.hpp"
#include "d5/core/report/report.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// A record that has samples, and by which words a plot tells it from the others.
struct Figure {
  const Measurement* record;
  RowWords words;      ///< subject, and the conditions in which records differ
  std::string row;     ///< the words, or those of them by which a plot's rows differ
  std::string series;  ///< framework, device and file, as far as they differ
  std::size_t number;  ///< of that series in all plots of a page: one colour, one order
  Estimate estimate;
  std::string label;  ///< "1.25 ms", with the status if it is not that of all
  std::string tip;    ///< row, series, value, interval, number of samples
};
using Figures = std::vector<Figure>;

/// Of the records that have samples, in order.
[[nodiscard]] std::vector<std::string> series_of(const std::vector<Report::Source>& sources);
/// All of them, by metric, in the order in which metrics appear.
[[nodiscard]] std::vector<Figures> figures_by_metric(const std::vector<Report::Source>& sources);

/// Names a series of a plot for its legend.
void name_series(Plot& plot, std::size_t number, const std::string& name);
[[nodiscard]] bool has_several_series(const Plot& plot);
/// Of lines that stand for these figures: their own numbers, or 0, 1, ... if two have the same.
[[nodiscard]] std::vector<std::size_t> line_numbers(const std::vector<const Figure*>& figures);

/// Places for figures: a row for each `row`, a lane in it for each `series` that it has.
class RowPlaces {
 public:
  static constexpr std::size_t kMostRows = 40;
  /// Gives `plot` its rows and series, and a note where one is due.
  RowPlaces(Plot& plot, const Figures& figures);
  struct Place {
    double y, lane;  ///< of the lane's middle, and its height, in rows
  };
  /// Nothing for one in a row beyond the first `kMostRows`.
  [[nodiscard]] std::optional<Place> operator()(const Figure& figure) const;

 private:
  std::map<std::string, std::size_t> rows_;
  std::vector<std::set<std::size_t>> lanes_;  ///< numbers of series
};

/// By what a record's figures were put together, where they are of a part: "operator"; or empty.
[[nodiscard]] std::string grouping_of(const Measurement& measurement);
/// Whether its samples are of a run each, of several runs that were joined (`join_runs`).
[[nodiscard]] bool is_of_runs(const Measurement& measurement);
/// Names the rows of one plot by what differs among them. Returns the subject of all, where no row
/// says it.
std::string name_rows(Figures& figures);

/// "peak_memory" as "peak memory", and as "Peak memory".
[[nodiscard]] std::string words_of(const std::string& name);
[[nodiscard]] std::string title_of(const std::string& name);

[[nodiscard]] bool is_curve(const Figure& figure);

// Of figures that are of one metric:
[[nodiscard]] Plot curve_plot(const Figures& figures);
[[nodiscard]] Plot value_plot(const Figures& figures);
[[nodiscard]] Plot ratio_plot(Figures figures);
[[nodiscard]] Plot sample_plot(const Figures& figures);
/// The same where a sample is a run: "time_to_accuracy-over-seeds".
[[nodiscard]] Plot run_plot(const Figures& figures);

/// Over each condition that is a number and that some figures alone differ in: "time-over-batch".
[[nodiscard]] std::vector<Plot> sweep_plots(const Figures& figures);

/// Under the peaks of the machines, as far as their environments tell them.
[[nodiscard]] Plot roofline_plot(const Figures& flop_rates, const Figures& byte_rates,
                                 const std::vector<Report::Source>& sources);

/// The ratios of pairs, sorted: a plot a metric.
[[nodiscard]] std::vector<Plot> pair_plots(const std::vector<ResultPair>& pairs);

}  // namespace d5::detail
