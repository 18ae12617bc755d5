// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/result_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <set>

#include "d5/core/results.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

/// What differs from run to run, or says how long was measured, makes no other series.
constexpr std::array kNotOfSeries = {"repetition", "repetitions", "seed", "steady_from", "warmup"};

std::string series_of(const StoredMeasurement& stored) {
  const Measurement& m = stored.record;
  std::string series =
      fmt::format("{} {} {} {} {} on {}", m.subject.substr(0, m.subject.find('@')), m.framework,
                  m.device, m.metric, to_string(m.statistic), stored.hostname);
  for (const auto& [name, value] : m.conditions) {
    if (std::ranges::find(kNotOfSeries, name) != kNotOfSeries.end()) continue;
    series += fmt::format(", {} {}", name, value);
  }
  return series;
}

/// What tells a record of a history from the others, as words: what all share is left out.
class Differences {
 public:
  explicit Differences(const std::vector<HistoryEntry>& history) {
    for (const auto& entry : history) {
      for (const auto& [name, value] : parts_of(entry.stored)) values_[name].insert(value);
    }
  }
  /// Those of its conditions.
  [[nodiscard]] std::string conditions(const StoredMeasurement& stored) const {
    std::string text;
    for (const auto& [name, value] : stored.record.conditions) {
      if (differs(name)) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
    }
    return text;
  }
  /// Of all: what a line of a plot is called.
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
  /// Names that begin with a space are of no condition.
  static std::map<std::string, std::string> parts_of(const StoredMeasurement& stored) {
    const Measurement& m = stored.record;
    std::map<std::string, std::string> parts = {{" 1", subject_of(stored)},
                                                {" 2", m.framework},
                                                {" 3", m.device},
                                                {" 4", to_string(m.statistic)},
                                                {" 5", stored.hostname}};
    for (const auto& [name, value] : m.conditions) {
      if (std::ranges::find(kNotOfSeries, name) == kNotOfSeries.end()) parts.emplace(name, value);
    }
    return parts;
  }
  [[nodiscard]] bool differs(const std::string& name) const {
    const auto place = values_.find(name);
    return place != values_.end() && place->second.size() > 1;
  }
  std::map<std::string, std::set<std::string>> values_;
};

/// Records in the order of their time, each told what is known of it then.
class SeriesBest {
 public:
  /// The next of all.
  HistoryEntry told(StoredMeasurement stored) {
    const std::size_t number = count_++;
    const bool lower = stored.record.direction == Direction::lower_is_better;
    const double value = stored.estimate.value;
    HistoryEntry entry;
    entry.series = series_of(stored);
    if (competes(stored)) {
      const auto [place, is_first] = best_.try_emplace(entry.series);
      const double before = place->second.value;
      entry.is_record = is_first || (lower ? value < before : value > before);
      if (entry.is_record) place->second = {number, value};
    }
    entry.stored = std::move(stored);
    return entry;
  }
  /// The same after the last: which of them are the best. `first` is the number of the first.
  template <class Entries>
  void mark(Entries& entries, std::size_t first) const {
    for (const auto& [series, best] : best_) {
      const std::size_t place = best.number - first;  // far beyond the end where it is before
      if (best.number >= first && place < entries.size()) entries[place].is_best = true;
    }
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  static bool competes(const StoredMeasurement& stored) {
    return stored.record.status == Status::passed &&
           stored.record.direction != Direction::neither && std::isfinite(stored.estimate.value);
  }
  struct Best {
    std::size_t number = 0;
    double value = 0;
  };
  std::map<std::string, Best> best_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<HistoryEntry> result_history(std::vector<StoredMeasurement> stored) {
  std::ranges::stable_sort(stored, {}, &StoredMeasurement::time);
  std::vector<HistoryEntry> history;
  SeriesBest best;
  for (auto& one : stored) history.push_back(best.told(std::move(one)));
  best.mark(history, 0);
  return history;
}

StoredHistory stored_history(const EvaluationDatabase& database, const RecordFilter& filter,
                             const HistoryPart& part) {
  constexpr std::size_t kAtOnce = 10'000;
  const bool from_newest = part.from == HistoryPart::From::newest;
  std::deque<HistoryEntry> kept;
  std::size_t first = from_newest ? 0 : part.skipped;  // number of the first that is kept
  SeriesBest best;
  std::string place;
  do {
    auto page = database.measurements(filter, EvaluationDatabase::Samples::without,
                                      {.from = place, .limit = kAtOnce});
    for (auto& one : page.items) {
      const std::size_t number = best.count();
      HistoryEntry entry = best.told(std::move(one));
      if (!from_newest && (number < part.skipped || kept.size() == part.limit)) continue;
      kept.push_back(std::move(entry));
      if (from_newest && kept.size() > part.skipped + part.limit) {
        kept.pop_front();
        ++first;
      }
    }
    place = page.next;
  } while (!place.empty());
  if (from_newest) kept.resize(kept.size() - std::min(kept.size(), part.skipped));
  best.mark(kept, first);
  return {{std::make_move_iterator(kept.begin()), std::make_move_iterator(kept.end())},
          best.count()};
}

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
  std::map<std::string, double> numbers;  // of runs, by time
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
