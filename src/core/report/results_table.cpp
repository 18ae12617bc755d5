// SPDX-License-Identifier: Apache-2.0
#include "core/report/results_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "core/report/figures.hpp"
#include "core/report/html_table.hpp"
#include "core/report/markup.hpp"
#include "core/results/result_cells.hpp"
#include "core/results/varying_conditions.hpp"
#include "d5/core/results/case_summary.hpp"
#include "d5/core/results/ratio_summary.hpp"

namespace d5 {
namespace detail {
namespace {

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

/// Columns of conditions before the numbers, which tell cases apart, and after them. Few precede,
/// so that the numbers and the status are on the screen.
struct ConditionColumns {
  std::vector<std::string> before, after;
};

ConditionColumns condition_columns(const std::vector<Measurement>& measurements) {
  constexpr std::size_t kMostBefore = 5;
  std::set<std::string> names;
  std::vector<const Measurement*> records;
  for (const auto& m : measurements) {
    records.push_back(&m);
    for (const auto& [name, value] : told_conditions(m)) names.insert(name);
  }
  const auto varying = varying_identities(records);
  ConditionColumns columns;
  for (const auto& name : names) {
    const bool tells = varying.contains(name) && columns.before.size() < kMostBefore;
    (tells ? columns.before : columns.after).push_back(name);
  }
  return columns;
}

}  // namespace

std::vector<Measurement> measurements_of(const std::vector<Report::Source>& sources) {
  std::vector<Measurement> all;
  for (const auto& source : sources) {
    all.insert(all.end(), source.results.measurements.begin(), source.results.measurements.end());
  }
  return all;
}

std::string results_table(const std::vector<Report::Source>& sources) {
  const auto [before, after] = condition_columns(measurements_of(sources));
  std::vector<std::string> titles = {"file", "subject", "framework", "device"};
  std::ranges::transform(before, std::back_inserter(titles), title_of_condition);
  titles.emplace_back("metric");
  const std::size_t numbers = titles.size();
  for (const char* title : {"value", "95% interval", "samples", "statistic", "status"}) {
    titles.emplace_back(title);
  }
  const std::size_t end = titles.size();
  std::ranges::transform(after, std::back_inserter(titles), title_of_condition);
  HtmlTable table(std::move(titles));
  for (const auto& source : sources) {
    for (const auto& m : source.results.measurements) {
      std::vector<HtmlTable::Cell> row = {source.name, m.subject, m.framework, m.device};
      auto told = told_conditions(m);
      for (const auto& name : before) row.emplace_back(told[name]);
      const auto [value, interval] = numbers_of(m);
      row.insert(row.end(),
                 {m.metric, HtmlTable::Cell(value, estimate(m).value), unbroken(interval),
                  HtmlTable::Cell(fmt::format("{}", m.samples.size()), double(m.samples.size())),
                  m.samples.empty() ? "" : to_string(m.statistic), status_of(m)});
      for (const auto& name : after) row.emplace_back(told[name]);
      table.add(std::move(row));
    }
  }
  if (table.empty()) return "<p>Nothing was measured.</p>\n";
  table.say_once(numbers, end);
  return table.html();
}

std::string summary_table(const std::vector<Report::Source>& sources) {
  std::string text;
  for (const auto& [name, results] : sources) {
    const auto tables = summaries_of(results.measurements);
    if (!tables.empty() && !name.empty()) text += "<p class=\"note\">" + escaped(name) + "</p>\n";
    for (const TextTable& table : tables) text += HtmlTable(table).html();
    const std::string note = note_on_means(tables);
    if (!note.empty()) text += "<p class=\"note\">" + escaped(note) + "</p>\n";
  }
  return text;
}

std::string reasons_list(const std::vector<Report::Source>& sources) {
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
        "<li><span class=\"{0}\">{0}</span>: {1}<br/><span class=\"soft\">{2}</span></li>\n",
        reason.first, escaped(reason.second), escaped(names));
  }
  return "<ul class=\"reasons\">\n" + items + "</ul>\n";
}

}  // namespace detail

std::string to_html_table(const std::vector<Measurement>& measurements) {
  const std::vector<Report::Source> sources = {
      {.results = {.environment = {}, .measurements = measurements}}};
  return detail::results_table(sources) + detail::summary_table(sources) +
         detail::reasons_list(sources);
}

}  // namespace d5
