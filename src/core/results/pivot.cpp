// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/pivot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/results/metric_names.hpp"
#include "core/results/result_cells.hpp"
#include "core/results/result_notes.hpp"
#include "core/results/scaled_unit.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/results/case_summary.hpp"
#include "d5/core/results/ratio_summary.hpp"
#include "d5/core/statistics/geometric_mean.hpp"
#include "d5/core/tables/wrapped_text.hpp"

namespace d5 {
namespace {

using detail::ResultCell;

/// Whether ratios of the quantity are meaningful; those of errors, shares and losses are not.
bool has_ratios(const Measurement& m) {
  constexpr std::array<Quantity, 5> kinds = {Quantity::time, Quantity::energy, Quantity::bytes,
                                             Quantity::rate, Quantity::count};
  return std::ranges::find(kinds, m.quantity) != kinds.end();
}

std::string value_of(const Measurement& m, const std::string& column) {
  for (const auto& cell : detail::cells_of(m)) {
    if (cell.column == column) return cell.text;
  }
  return "";
}

/// The identity of a case besides its metric, without the key and findings.
std::map<std::string, std::string> pivoted_case(const Measurement& m, const std::string& key) {
  std::map<std::string, std::string> result;
  for (const auto& [column, text, kind] : detail::cells_of(m)) {
    if (kind == ResultCell::Kind::tells && column != key && !text.empty()) result[column] = text;
  }
  return result;
}

struct PivotCase {
  std::string metric;
  std::map<std::string, std::string> names;
  std::map<std::string, const Measurement*> by_value;

  /// A group with its own geometric mean.
  using Group = std::pair<std::string, std::string>;
  [[nodiscard]] Group group() const {
    const auto pass = names.find("pass");
    return {metric, pass == names.end() ? "" : pass->second};
  }
};

/// The star of a number that did not pass.
const char* star(bool doubtful) { return doubtful ? "*" : ""; }

std::optional<double> ratio_of(const Measurement* m, const Measurement* base) {
  if (!m || !base || m->samples.empty() || base->samples.empty() || !has_ratios(*m)) return {};
  if (answers_wrongly(*m) || answers_wrongly(*base)) return {};
  const double ratio = estimate(*m).value / estimate(*base).value;
  return std::isfinite(ratio) && ratio > 0 ? std::optional(ratio) : std::nullopt;
}

/// Cases in order of appearance, group by group.
std::vector<PivotCase> pivot_cases(const std::vector<Measurement>& measurements,
                                   const std::string& key, std::vector<std::string>& values) {
  std::vector<PivotCase> cases;
  std::set<std::string> known;
  detail::MetricNames metric_names;
  for (const auto& m : measurements) metric_names.add(m);
  for (const auto& m : measurements) {
    for (const auto& cell : detail::cells_of(m)) {
      if (cell.kind != ResultCell::Kind::number) known.insert(cell.column);
    }
    const std::string value = value_of(m, key);
    if (value.empty() || m.quantity == Quantity::ratio) continue;
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    const std::string metric = metric_names.of(m);
    const auto names = pivoted_case(m, key);
    auto place = std::ranges::find_if(cases, [&](const PivotCase& one) {
      return one.metric == metric && one.names == names && !one.by_value.contains(value);
    });
    if (place == cases.end()) place = cases.insert(place, {metric, names, {}});
    place->by_value[value] = &m;
  }
  if (values.empty()) throw_unknown_name("column to pivot on", key, {known.begin(), known.end()});
  // Metrics in order of appearance, each with its passes.
  std::vector<std::string> metrics;
  std::vector<PivotCase::Group> groups;
  for (const auto& one : cases) {
    if (std::ranges::find(metrics, one.metric) == metrics.end()) metrics.push_back(one.metric);
    if (std::ranges::find(groups, one.group()) == groups.end()) groups.push_back(one.group());
  }
  std::ranges::stable_sort(cases, {}, [&](const PivotCase& one) {
    return std::pair(std::ranges::find(metrics, one.metric) - metrics.begin(),
                     std::ranges::find(groups, one.group()) - groups.begin());
  });
  return cases;
}

/// The columns that identify cases: the subject, and those in which cases differ.
std::vector<std::string> naming(const std::vector<PivotCase>& cases) {
  std::map<std::string, std::set<std::string>> seen;
  for (const auto& one : cases) {
    for (const auto& [column, text] : one.names) seen[column].insert(text);
  }
  std::vector<std::string> columns = {"subject"};
  for (const auto& [column, texts] : seen) {
    if (column != "subject" && texts.size() > 1) columns.push_back(column);
  }
  return columns;
}

/// Collects the ratios of a column for their mean.
struct RatioColumn {
  std::vector<double> ratios;
  bool doubtful = false;  ///< any ratio is doubtful
};

/// "0.256 (3)": the geometric mean of three ratios.
std::string mean_of(const RatioColumn& of) {
  if (of.ratios.empty()) return "";
  return fmt::format("{} ({}){}", detail::with_digits(geometric_mean(of.ratios).value, 3),
                     of.ratios.size(), star(of.doubtful));
}

}  // namespace

TextTable pivot(const std::vector<Measurement>& measurements, const std::string& key) {
  std::vector<std::string> values;
  const auto cases = pivot_cases(measurements, key, values);
  const auto names = naming(cases);
  std::vector<TextTable::Column> columns = {"metric"};
  columns.insert(columns.end(), names.begin(), names.end());
  for (std::size_t v = 0; v < values.size(); ++v) {
    columns.emplace_back(values[v], TextTable::Align::right);
    if (v > 0) columns.emplace_back(values[v] + " / " + values[0], TextTable::Align::right);
  }
  TextTable table(std::move(columns));
  std::vector<RatioColumn> ratios(values.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto at = [&](const std::string& value) {
      const auto place = cases[i].by_value.find(value);
      return place == cases[i].by_value.end() ? nullptr : place->second;
    };
    std::vector<std::string> row = {cases[i].metric};
    for (const auto& name : names) {
      const auto place = cases[i].names.find(name);
      row.push_back(place == cases[i].names.end() ? "" : place->second);
    }
    for (std::size_t v = 0; v < values.size(); ++v) {
      row.push_back(detail::starred_value(at(values[v])));
      if (v == 0) continue;
      const auto *mine = at(values[v]), *base = at(values[0]);
      const auto ratio = ratio_of(mine, base);
      const bool doubtful =
          ratio && (mine->status != Status::passed || base->status != Status::passed);
      row.push_back(ratio ? detail::with_digits(*ratio, 3) + star(doubtful) : "");
      if (ratio) ratios[v].ratios.push_back(*ratio);
      ratios[v].doubtful |= doubtful;
    }
    table.add(std::move(row));
    if (i + 1 < cases.size() && cases[i + 1].group() == cases[i].group()) continue;
    std::vector<std::string> means = {cases[i].metric};
    for (const auto& name : names) {
      means.push_back(name == "subject" ? "geometric mean"
                      : name == "pass"  ? cases[i].group().second
                                        : "");
    }
    means.emplace_back();  // for the base
    bool any = false;
    for (std::size_t v = 1; v < values.size(); ++v) {
      means.emplace_back();
      means.push_back(mean_of(ratios[v]));
      any = any || !ratios[v].ratios.empty();
      ratios[v] = {};
    }
    if (any) table.add(std::move(means));
  }
  table.drop_empty_columns();
  return table;
}

std::string pivot_notes(const std::vector<Measurement>& measurements) {
  std::map<Status, detail::ResultNotes> notes;
  for (const auto& m : measurements) {
    // Every number that did not pass has a star.
    if (m.status != Status::passed && m.quantity != Quantity::ratio) {
      const bool has_number = !m.samples.empty() && !answers_wrongly(m);
      std::ignore = notes[has_number ? Status::mistrusted : m.status].status_of(m);
    }
  }
  std::string text;
  for (const auto& [status, of_status] : notes) {
    const std::string mark =
        status == Status::mistrusted ? "*" : std::string(name_of(status)) + ":";
    for (const auto& reason : of_status.reasons()) text += fmt::format("{} {}\n", mark, reason);
  }
  return text;
}

std::string pivot_text(const std::vector<Measurement>& measurements, const std::string& key,
                       Format format, int width) {
  std::string text = pivot(measurements, key).to_text(format, width);
  if (!is_for_people(format)) return text;
  const int room = format == Format::table ? width : 0;
  if (const std::string notes = pivot_notes(measurements); !notes.empty()) {
    text += "\n" + wrapped(notes, room);
  }
  const auto tables = summaries_of(measurements);
  for (const TextTable& table : tables) text += "\n" + table.to_text(format, width);
  const std::string note = note_on_means(tables);
  return note.empty() ? text : text + "\n" + wrapped(note, room);
}

}  // namespace d5
