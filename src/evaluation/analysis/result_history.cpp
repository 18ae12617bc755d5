// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/result_history.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "evaluation/analysis/history_series.hpp"

namespace d5 {
namespace {

/// Judges records in order of time, each by what is known at that time.
class SeriesBest {
 public:
  /// Judges the next record.
  HistoryEntry told(StoredMeasurement stored) {
    const std::size_t number = count_++;
    HistoryEntry entry;
    entry.series = detail::series_of(stored);
    if (detail::competes(stored)) {
      const auto [place, is_first] = best_.try_emplace(entry.series);
      entry.is_record = is_first || detail::is_better(stored, place->second.value);
      if (entry.is_record) place->second = {number, stored.estimate.value};
    }
    entry.stored = std::move(stored);
    return entry;
  }
  /// Marks the best records, after the last one. `first` is the number of the first.
  template <class Entries>
  void mark(Entries& entries, std::size_t first) const {
    for (const auto& [series, best] : best_) {
      const std::size_t place = best.number - first;  // beyond the end if it comes before
      if (best.number >= first && place < entries.size()) entries[place].is_best = true;
    }
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  struct Best {
    std::size_t number = 0;
    double value = 0;
  };
  std::map<std::string, Best> best_;
  std::size_t count_ = 0;
};

/// The best values of a series.
struct BestValues {
  std::optional<double> before = {};  ///< best value before the current record
  std::optional<double> all = {};
};
void improve(std::optional<double>& best, const StoredMeasurement& by) {
  if (!best || detail::is_better(by, *best)) best = by.estimate.value;
}

/// Judges the series of a page that began at `place`.
std::map<std::string, BestValues> best_of_series(const EvaluationDatabase& database,
                                                 const RecordFilter& filter,
                                                 const std::string& place,
                                                 const std::vector<HistoryEntry>& page) {
  std::map<std::string, BestValues> best;
  std::set<std::string> metrics;
  for (const auto& entry : page) {
    if (!detail::competes(entry.stored)) continue;
    best.try_emplace(entry.series);
    metrics.insert(entry.stored.record.metric);
  }
  if (best.empty()) return best;
  database.passed_values(filter, {metrics.begin(), metrics.end()}, place,
                         [&](const StoredMeasurement& one, bool is_before) {
                           if (!detail::competes(one)) return;
                           const auto of = best.find(detail::series_of(one));
                           if (of == best.end()) return;
                           improve(of->second.all, one);
                           if (is_before) improve(of->second.before, one);
                         });
  return best;
}

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
  const bool from_newest = part.from == HistoryPart::From::newest;
  std::deque<HistoryEntry> kept;
  std::size_t first = from_newest ? 0 : part.skipped;  // number of the first that is returned
  SeriesBest best;
  for_each_stored(
      [&](const PageAsked& asked) {
        return database.measurements(filter, EvaluationDatabase::Samples::without, asked);
      },
      [&](StoredMeasurement one) {
        const std::size_t number = best.count();
        HistoryEntry entry = best.told(std::move(one));
        if (!from_newest && (number < part.skipped || kept.size() == part.limit)) return;
        kept.push_back(std::move(entry));
        if (from_newest && kept.size() > part.skipped + part.limit) {
          kept.pop_front();
          ++first;
        }
      });
  if (from_newest) kept.resize(kept.size() - std::min(kept.size(), part.skipped));
  best.mark(kept, first);
  return {{std::make_move_iterator(kept.begin()), std::make_move_iterator(kept.end())},
          best.count()};
}

StoredPage<HistoryEntry> history_page(const EvaluationDatabase& database,
                                      const RecordFilter& filter, const PageAsked& page) {
  auto [stored, next] = database.measurements(filter, EvaluationDatabase::Samples::without, page);
  StoredPage<HistoryEntry> history{.items = {}, .next = std::move(next)};
  for (auto& one : stored) {
    std::string series = detail::series_of(one);
    history.items.push_back({.stored = std::move(one), .series = std::move(series)});
  }
  auto best = best_of_series(database, filter, page.from, history.items);
  for (auto& entry : history.items) {
    if (!detail::competes(entry.stored)) continue;
    auto& [before, all] = best.at(entry.series);
    entry.is_record = !before || detail::is_better(entry.stored, *before);
    entry.is_best = entry.is_record && all == entry.stored.estimate.value;
    improve(before, entry.stored);
  }
  return history;
}

}  // namespace d5
