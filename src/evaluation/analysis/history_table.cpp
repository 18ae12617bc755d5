// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/result_history.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "d5/core/results/results.hpp"
#include "evaluation/analysis/cell_plot.hpp"
#include "evaluation/analysis/history_series.hpp"

namespace d5 {
namespace {

/// Facts that distinguish records of a history, in words; facts that all share are left out.
class Differences {
 public:
  explicit Differences(const std::vector<HistoryEntry>& history) {
    for (const auto& entry : history) {
      for (const auto& [name, value] : parts_of(entry.stored)) values_[name].insert(value);
    }
  }
  /// The distinguishing conditions.
  [[nodiscard]] std::string conditions(const StoredMeasurement& stored) const {
    std::string text;
    for (const auto& [name, condition] : stored.record.conditions) {
      if (!differs(name)) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, condition.text());
    }
    return text;
  }
  /// All distinguishing facts, as the name of a plot's line.
  [[nodiscard]] std::string words(const StoredMeasurement& stored) const {
    std::string text;
    for (const auto& [name, value] : parts_of(stored)) {
      const bool is_condition = !name.starts_with(' ');
      if (!differs(name)) continue;
      text +=
          fmt::format("{}{}{}", text.empty() ? "" : ", ", is_condition ? name + " " : "", value);
    }
    return text.empty() ? subject_of(stored) : text;
  }

 private:
  static std::string subject_of(const StoredMeasurement& stored) {
    return stored.record.subject.substr(0, stored.record.subject.find('@'));
  }
  /// Names that begin with a space belong to no condition.
  static std::map<std::string, std::string> parts_of(const StoredMeasurement& stored) {
    const Measurement& m = stored.record;
    std::map<std::string, std::string> parts = {{" 1", subject_of(stored)},
                                                {" 2", m.framework},
                                                {" 3", m.device},
                                                {" 4", to_string(m.statistic)},
                                                {" 5", stored.hostname}};
    for (const auto& [name, condition] : m.conditions) {
      if (condition.role == Role::identity) parts.emplace(name, condition.text());
    }
    return parts;
  }
  [[nodiscard]] bool differs(const std::string& name) const {
    const auto place = values_.find(name);
    return place != values_.end() && place->second.size() > 1;
  }
  std::map<std::string, std::set<std::string>> values_;
};

}  // namespace

TextTable history_table(const std::vector<HistoryEntry>& history) {
  using enum TextTable::Align;
  TextTable table({"time",
                   "run",
                   "subject",
                   "framework",
                   "device",
                   "conditions",
                   "metric",
                   "statistic",
                   {"value", right},
                   {"95% interval", right},
                   "best",
                   "status",
                   "host"});
  const Differences differences(history);
  for (const auto& [stored, series, is_record, is_best] : history) {
    const Measurement& m = stored.record;
    table.add({stored.time, stored.run.substr(0, 8), m.subject, m.framework, m.device,
               differences.conditions(stored), m.metric, to_string(m.statistic),
               detail::value_text(stored.estimate, m.unit),
               detail::interval_text(stored.estimate, m.unit),
               is_best     ? "best"
               : is_record ? "then"
                           : "",
               std::string(name_of(m.status)), stored.hostname});
  }
  table.drop_empty_columns();
  return table;
}

std::vector<Plot> history_plots(const std::vector<HistoryEntry>& history) {
  std::map<std::string, double> numbers;  // consecutive numbers of runs, by time
  for (const auto& entry : history) numbers.try_emplace(entry.stored.time, 0.0);
  double number = 0;
  for (auto& [time, at] : numbers) at = ++number;
  std::map<std::string, std::map<std::string, std::vector<const HistoryEntry*>>> metrics;
  for (const auto& entry : history) {
    if (!std::isnan(entry.stored.estimate.value)) {
      metrics[entry.stored.record.metric][entry.series].push_back(&entry);
    }
  }
  const Differences differences(history);
  std::vector<Plot> plots;
  for (const auto& [metric, lines] : metrics) {
    const Measurement& first = lines.begin()->second.front()->stored.record;
    Plot plot{.name = "history-" + metric,
              .title = metric + " over time",
              .note = fmt::format("{} to {}", numbers.begin()->first, numbers.rbegin()->first),
              .x = {.label = "run", .unit = "", .scale = PlotAxis::Scale::whole},
              .y = {.label = metric, .unit = first.unit}};
    std::vector<detail::Curve> curves;
    for (const auto& [series, entries] : lines) {
      detail::Curve& curve = curves.emplace_back();
      curve.name = differences.words(entries.front()->stored);
      for (const HistoryEntry* entry : entries) {
        curve.x.push_back(numbers.at(entry->stored.time));
        curve.y.push_back(entry->stored.estimate);
      }
    }
    plots.push_back(detail::curves_plot(std::move(plot), curves));
  }
  return plots;
}

}  // namespace d5
