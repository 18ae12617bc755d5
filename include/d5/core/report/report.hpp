// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/core/results/result_comparison.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/trace/timeline.hpp"

namespace d5 {

/// What a page tells.
///
///     write_file("report.html", to_html({.sources = {{"", results}}}));
struct Report {
  struct Source {
    std::string name = {};  ///< its file; empty where there is one alone
    Results results = {};
  };
  std::string title = {};              ///< empty: names what was measured
  std::vector<Source> sources = {};    ///< shown side by side
  std::vector<ResultPair> pairs = {};  ///< of the first two, if they are compared
  std::vector<Plot> plots = {};        ///< besides those that the results give: a timeline
};

/// From results files and traces, told apart by what they hold: a source each, and a timeline each.
/// Throws: IoError, FormatError.
[[nodiscard]] Report read_report(const std::vector<std::string>& paths);

/// Every plot that the results support, those of `report.plots` among them: curves of loss and
/// accuracy with the last and the best marked, ratios sorted, the statistic of each metric with its
/// interval, the same over each condition that is a number, or a number of bytes,
/// and was varied ("time-over-batch", "time-over-memory-limit"), the
/// distribution of samples, and a roofline where both FLOP/s and bytes/s are known.
[[nodiscard]] std::vector<Plot> plots_of(const Report& report);

/// The one of that name, the first for an empty one. Throws: NotFound, which names all there are;
/// ValueError if there is none.
[[nodiscard]] Plot plot_named(const std::vector<Plot>& plots, const std::string& name);

/// What every thread of every rank did when: a row each, spans within spans below them. Spans too
/// short to be told apart are drawn as one.
[[nodiscard]] Plot timeline_plot(const Timeline& timeline);

/// One file that needs no other: tables that sort, plots, environment, and the commands that
/// measure it again. Light or dark as the reader's system is; legible without scripts; every text
/// of the results is escaped.
[[nodiscard]] std::string to_html(const Report& report);
/// The page's tables of results, what their ratios say together, and the reasons, without style:
/// for a notebook or a page of one's own. Every text is escaped.
[[nodiscard]] std::string to_html_table(const std::vector<Measurement>& measurements);

/// Whether a format shows a report: html, svg, png.
[[nodiscard]] bool is_drawn(Format format);
/// The page, or the plot of that name. Throws: as `plot_named` and `to_png`; ValueError for a
/// format that is not drawn.
[[nodiscard]] std::string to_text(const Report& report, Format format,
                                  const std::string& plot = "");

}  // namespace d5
