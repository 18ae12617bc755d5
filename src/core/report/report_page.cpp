// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/report/environment_rows.hpp"
#include "core/report/figures.hpp"
#include "core/report/html_table.hpp"
#include "core/report/markup.hpp"
#include "core/report/page_style.hpp"
#include "core/report/plot_drawing.hpp"
#include "core/report/results_table.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/report/report.hpp"

namespace d5 {
namespace {

using detail::escaped;
using detail::HtmlTable;
using detail::measurements_of;
using Sources = std::vector<Report::Source>;

std::string pairs_table(const std::vector<ResultPair>& pairs) {
  const TextTable rows = to_table(pairs);
  HtmlTable table(rows);
  table.end_with(rows.size() - pairs.size());  // geometric means
  return table.html();
}

std::string commands(const Sources& sources) {
  std::string lines;
  std::set<std::string> seen;
  for (const auto& m : measurements_of(sources)) {
    if (!m.command.empty() && seen.insert(m.command).second) lines += escaped(m.command) + "\n";
  }
  return lines.empty() ? "" : "<h2>Commands to reproduce</h2>\n<pre>" + lines + "</pre>\n";
}

/// Extracts the common legend of a page's plots; plots keep only additional entries. Empty if fewer
/// than two plots share it.
std::string take_legend(std::vector<Plot>& plots, const std::vector<std::string>& series) {
  std::vector<Plot*> sharing;
  std::set<std::size_t> shown;
  for (auto& plot : plots) {
    std::set<std::size_t> named;
    bool agrees = true;
    for (std::size_t i = 0; agrees && i < std::min(plot.series.size(), series.size()); ++i) {
      if (plot.series[i].empty()) continue;
      agrees = plot.series[i] == series[i];
      named.insert(i);
    }
    if (!agrees || named.empty()) continue;
    sharing.push_back(&plot);
    shown.merge(named);
  }
  if (sharing.size() < 2) return "";
  for (auto* plot : sharing) {
    for (const auto i : shown) {
      if (i < plot->series.size()) plot->series[i].clear();
    }
  }
  std::string items;
  for (const auto i : shown) {
    items += "<li>" + detail::drawn_key(i) + " " + escaped(series[i]) + "</li>";
  }
  return "<ul class=\"legend\">" + items + "</ul>\n";
}

std::string figures(const Report& report) {
  constexpr int kWide = 560, kFull = 1140, kNarrow = 350;  // as the style sheet's columns
  auto plots = plots_of(report);
  const std::string legend = take_legend(plots, detail::series_of(report.sources));
  std::string text;
  for (const auto& plot : plots) {
    const bool full = plot.name == "timeline";
    text += fmt::format("<figure{}>", full ? " class=\"full\"" : "");
    if (full) text += "<div class=\"widest\">" + detail::drawn(plot, kFull) + "</div>";
    text += "<div class=\"wide\">" + detail::drawn(plot, kWide) + "</div>";
    text += "<div class=\"narrow\">" + detail::drawn(plot, kNarrow) + "</div></figure>\n";
  }
  return text.empty() ? "" : legend + "<div class=\"figures\">\n" + text + "</div>\n";
}

std::string title_of(const Report& report) {
  if (!report.title.empty()) return report.title;
  std::vector<std::string> subjects;
  for (const auto& m : measurements_of(report.sources)) {
    if (std::ranges::find(subjects, m.subject) == subjects.end()) subjects.push_back(m.subject);
  }
  if (subjects.empty()) return "d5";
  const std::string others =
      subjects.size() == 1 ? "" : fmt::format(" and {} more", subjects.size() - 1);
  return detail::shortened(subjects.front(), 60) + others;
}

std::string counts(const Sources& sources) {
  std::array<int, 5> count{};
  for (const auto& m : measurements_of(sources)) ++count.at(std::size_t(m.status));
  std::string items;
  for (std::size_t i = 0; i < count.size(); ++i) {
    if (count[i] == 0) continue;
    items += fmt::format("<li class=\"{0}\">{1} {0}</li>", name_of(Status(i)), count[i]);
  }
  return items.empty() ? "" : "<ul class=\"counts\">" + items + "</ul>\n";
}

std::string where(const Sources& sources) {
  std::string text;
  for (const auto& [name, results] : sources) {
    const Environment& e = results.environment;
    text += fmt::format("<p class=\"soft\">{}{}, {}, {}, d5 {}</p>\n",
                        name.empty() ? "" : "<b>" + escaped(name) + "</b>: ", escaped(e.hostname),
                        escaped(e.cpu), escaped(e.time), escaped(e.d5_version));
  }
  return text;
}

std::string environments(const Sources& sources) {
  return sources.empty() ? "" : "<h2>Environment</h2>\n" + detail::environment_rows(sources);
}

}  // namespace

std::string to_html(const Report& report) {
  const Sources& sources = report.sources;
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      // Blocks loading by any content that a hostile file may inject.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      escaped(title_of(report)), detail::page_style());
  page += where(sources) + counts(sources) + figures(report);
  if (!report.pairs.empty()) page += "<h2>Comparison</h2>\n" + pairs_table(report.pairs);
  const std::string ratios = detail::summary_table(sources);
  if (!ratios.empty()) page += "<h2>Ratios</h2>\n" + ratios;
  if (!sources.empty()) page += "<h2>Results</h2>\n" + detail::results_table(sources);
  const std::string reasons = detail::reasons_list(sources);
  if (!reasons.empty()) page += "<h2>Reasons</h2>\n" + reasons;
  page += commands(sources) + environments(sources);
  return page + "<script>" + detail::page_script() + "</script>\n</body>\n</html>\n";
}

bool is_drawn(Format format) {
  return format == Format::html || format == Format::svg || format == Format::png;
}

std::string to_text(const Report& report, Format format, const std::string& plot) {
  if (format == Format::html) return to_html(report);
  if (!is_drawn(format)) throw ValueError("a report is drawn; choose html, svg or png");
  const Plot one = plot_named(plots_of(report), plot);
  return format == Format::svg ? to_svg(one) : to_png(one);
}

}  // namespace d5
