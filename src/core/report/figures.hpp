// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/report/row_names.hpp"
#include "d5/core/report/plot.hpp"
#include "d5/core/report/report.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// A record with samples, and the words that distinguish it in a plot.
struct Figure {
  const Measurement* record;
  RowWords words;      ///< subject, and the conditions in which records differ
  std::string row;     ///< the words, or only those in which a plot's rows differ
  std::string series;  ///< framework, device and file, if they differ
  std::size_t number;  ///< number of the series in all plots of a page: fixes colour and order
  Estimate estimate;
  std::string label;  ///< "p99 1.25 ms", with statistic and status if they differ
  std::string tip;    ///< row, series, value, interval, number of samples
};
using Figures = std::vector<Figure>;

/// The series of all records with samples, in order.
[[nodiscard]] std::vector<std::string> series_of(const std::vector<Report::Source>& sources);
/// All figures by metric, in order of appearance.
[[nodiscard]] std::vector<Figures> figures_by_metric(const std::vector<Report::Source>& sources);

/// Sets a series' name in the plot's legend.
void name_series(Plot& plot, std::size_t number, const std::string& name);
[[nodiscard]] bool has_several_series(const Plot& plot);
/// Series numbers for lines of these figures: their own, or 0, 1, ... if two are equal.
[[nodiscard]] std::vector<std::size_t> line_numbers(const std::vector<const Figure*>& figures);

/// Assigns figures to places: a row for each `row`, with a lane for each figure, by series and
/// percentile.
class RowPlaces {
 public:
  static constexpr std::size_t kMostRows = 40;
  /// Sets the rows and series of `plot`, and a note if rows are omitted.
  RowPlaces(Plot& plot, const Figures& figures);
  struct Place {
    double y, lane;  ///< the lane's centre and height, in rows
  };
  /// Nothing for a figure in a row beyond the first `kMostRows`.
  [[nodiscard]] std::optional<Place> operator()(const Figure& figure) const;

 private:
  std::map<std::string, std::size_t> rows_;
  std::vector<std::vector<const Figure*>> lanes_;  ///< figures of each row, which outlive this
};

/// The grouping of a record that describes a part of a whole: "operator"; otherwise empty.
[[nodiscard]] std::string grouping_of(const Measurement& measurement);
/// Whether each sample is a separate run, joined by `join_runs`.
[[nodiscard]] bool is_of_runs(const Measurement& measurement);
/// Names the rows of a plot by their differences. Returns the common subject if rows omit it.
std::string name_rows(Figures& figures);

/// "peak_memory" as "peak memory", and as "Peak memory".
[[nodiscard]] std::string words_of(const std::string& name);
[[nodiscard]] std::string title_of(const std::string& name);

[[nodiscard]] bool is_curve(const Figure& figure);

// Plots of the figures of one metric:
[[nodiscard]] Plot curve_plot(const Figures& figures);
[[nodiscard]] Plot value_plot(const Figures& figures);
[[nodiscard]] Plot ratio_plot(Figures figures);
[[nodiscard]] Plot sample_plot(const Figures& figures);
/// A plot whose samples are runs: "time_to_accuracy-over-seeds".
[[nodiscard]] Plot run_plot(const Figures& figures);

/// A plot over each varied numeric condition: "time-over-batch".
[[nodiscard]] std::vector<Plot> sweep_plots(const Figures& figures);

/// The roofline plot, with the machines' peaks from their environments.
[[nodiscard]] Plot roofline_plot(const Figures& flop_rates, const Figures& byte_rates,
                                 const std::vector<Report::Source>& sources);

/// Sorted ratios of pairs, one plot per metric.
[[nodiscard]] std::vector<Plot> pair_plots(const std::vector<ResultPair>& pairs);

}  // namespace d5::detail
