// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/core/results/result_comparison.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/trace/timeline.hpp"

namespace d5 {

/// Content of a report page.
///
///     write_file("report.html", to_html({.sources = {{"", results}}}));
struct Report {
  struct Source {
    std::string name = {};  ///< file name; empty for a single source
    Results results = {};
  };
  std::string title = {};              ///< empty: derived from the measurements
  std::vector<Source> sources = {};    ///< shown side by side
  std::vector<ResultPair> pairs = {};  ///< the first two sources, compared
  std::vector<Plot> plots = {};        ///< additional plots, such as a timeline
};

/// Reads results files and traces, distinguished by their content. A results file becomes a source,
/// a trace a timeline. Throws: IoError, FormatError.
[[nodiscard]] Report read_report(const std::vector<std::string>& paths);

/// All plots that the results support, including `report.plots`: curves of loss and accuracy with
/// the last and the best value marked; sorted ratios; each metric's statistic with its interval;
/// the same over each varied numeric condition ("time-over-batch", "time-over-memory-limit"); the
/// distribution of samples; a roofline if both FLOP/s and bytes/s are known.
[[nodiscard]] std::vector<Plot> plots_of(const Report& report);

/// The plot of that name; the first one for an empty name. Throws: NotFound with all names;
/// ValueError if there are no plots.
[[nodiscard]] Plot plot_named(const std::vector<Plot>& plots, const std::string& name);

/// A timeline with one row per thread of each rank, and nested spans below their parents. Spans too
/// short to distinguish are merged.
[[nodiscard]] Plot timeline_plot(const Timeline& timeline);

/// A self-contained HTML page: sortable tables, plots, environment, and the commands to reproduce
/// the measurements. Follows the reader's light or dark theme and is readable without scripts. All
/// text of the results is escaped.
[[nodiscard]] std::string to_html(const Report& report);
/// The page's tables of results, the summary of ratios and the reasons, without style: for a
/// notebook or another page. All text is escaped.
[[nodiscard]] std::string to_html_table(const std::vector<Measurement>& measurements);

/// Whether a format draws a report: html, svg, png.
[[nodiscard]] bool is_drawn(Format format);
/// The report in a drawn format: the page, or the plot of that name. Throws: as `plot_named` and
/// `to_png`; ValueError for another format.
[[nodiscard]] std::string to_text(const Report& report, Format format,
                                  const std::string& plot = "");

}  // namespace d5
