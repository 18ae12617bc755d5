// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/report/environment_rows.hpp"
#include "core/report/figures.hpp"
#include "core/report/html_table.hpp"
#include "core/report/markup.hpp"
#include "core/report/page_style.hpp"
#include "core/report/plot_drawing.hpp"
#include "core/result_cells.hpp"
#include "d5/core/error.hpp"
#include "d5/core/report.hpp"

namespace d5 {
namespace {

using detail::escaped;
using detail::HtmlTable;
using Sources = std::vector<Report::Source>;

std::vector<Measurement> measurements_of(const Sources& sources) {
  std::vector<Measurement> all;
  for (const auto& source : sources) {
    all.insert(all.end(), source.results.measurements.begin(), source.results.measurements.end());
  }
  return all;
}

HtmlTable::Cell unbroken(std::string text) {
  HtmlTable::Cell cell = std::move(text);
  cell.style = "whole";
  return cell;
}

HtmlTable::Cell status_of(const Measurement& m) {
  HtmlTable::Cell cell = std::string(name_of(m.status));
  cell.style = cell.text;
  cell.tip = m.reason;
  return cell;
}

std::string results_table(const Sources& sources) {
  std::set<std::string> conditions;
  for (const auto& m : measurements_of(sources)) {
    for (const auto& [name, value] : detail::told_conditions(m)) conditions.insert(name);
  }
  std::vector<std::string> titles = {"file", "subject", "framework", "device"};
  titles.insert(titles.end(), conditions.begin(), conditions.end());
  for (const char* title : {"metric", "value", "95% interval", "samples", "statistic", "status"}) {
    titles.emplace_back(title);
  }
  HtmlTable table(std::move(titles));
  for (const auto& source : sources) {
    for (const auto& m : source.results.measurements) {
      std::vector<HtmlTable::Cell> row = {source.name, m.subject, m.framework, m.device};
      auto told = detail::told_conditions(m);
      for (const auto& name : conditions) row.emplace_back(told[name]);
      const auto [value, interval] = detail::numbers_of(m);
      row.insert(row.end(),
                 {m.metric, HtmlTable::Cell(value, estimate(m).value), unbroken(interval),
                  HtmlTable::Cell(fmt::format("{}", m.samples.size()), double(m.samples.size())),
                  m.samples.empty() ? "" : to_string(m.statistic), status_of(m)});
      table.add(std::move(row));
    }
  }
  if (table.empty()) return "<p>Nothing was measured.</p>\n";
  table.say_once(4 + conditions.size() + 1);  // all that stands before the value
  return table.html();
}

std::string pairs_table(const std::vector<ResultPair>& pairs) {
  return HtmlTable(to_table(pairs)).html();
}

/// Each reason once, with whom it concerns.
std::string reasons(const Sources& sources) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> concerned;
  for (const auto& m : measurements_of(sources)) {
    if (m.status == Status::passed) continue;
    concerned[{std::string(name_of(m.status)), m.reason}].insert(fmt::format(
        "{}{}{}, {}", m.subject, m.framework.empty() ? "" : ", ", m.framework, m.metric));
  }
  if (concerned.empty()) return "";
  constexpr std::size_t kMostNamed = 6;
  std::string items;
  for (const auto& [reason, records] : concerned) {
    std::string names;
    std::size_t count = 0;
    for (const auto& record : records) {
      if (++count <= kMostNamed) names += (names.empty() ? "" : "; ") + record;
    }
    if (count > kMostNamed) names += fmt::format("; and {} more", count - kMostNamed);
    items += fmt::format(
        "<li><span class=\"{0}\">{0}</span>: {1}<br><span class=\"soft\">{2}</span></li>\n",
        reason.first, escaped(reason.second), escaped(names));
  }
  return "<h2>Reasons</h2>\n<ul class=\"reasons\">\n" + items + "</ul>\n";
}

std::string commands(const Sources& sources) {
  std::string lines;
  std::set<std::string> seen;
  for (const auto& m : measurements_of(sources)) {
    if (!m.command.empty() && seen.insert(m.command).second) lines += escaped(m.command) + "\n";
  }
  return lines.empty() ? "" : "<h2>To measure it again</h2>\n<pre>" + lines + "</pre>\n";
}

std::string figures(const Report& report) {
  constexpr int kWide = 560, kFull = 1140, kNarrow = 350;  // as the style sheet's columns
  std::string text;
  for (const auto& plot : plots_of(report)) {
    const bool full = plot.name == "timeline";
    text += fmt::format("<figure{}>", full ? " class=\"full\"" : "");
    text += "<div class=\"wide\">" + detail::drawn(plot, full ? kFull : kWide) + "</div>";
    text += "<div class=\"narrow\">" + detail::drawn(plot, kNarrow) + "</div></figure>\n";
  }
  return text.empty() ? "" : "<div class=\"figures\">\n" + text + "</div>\n";
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
      // What a hostile file could smuggle in may load nothing.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      escaped(title_of(report)), detail::page_style());
  page += where(sources) + counts(sources) + figures(report);
  if (!report.pairs.empty()) page += "<h2>Comparison</h2>\n" + pairs_table(report.pairs);
  if (!sources.empty()) page += "<h2>Results</h2>\n" + results_table(sources);
  page += reasons(sources) + commands(sources) + environments(sources);
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
