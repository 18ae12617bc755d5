// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5 {

/// A record of a history, compared with earlier ones of its series.
struct HistoryEntry {
  StoredMeasurement stored;
  /// The series: the subject without its version ("lenet" of "lenet@1.2.0"), with framework,
  /// device, metric, conditions and machine.
  std::string series;
  /// Passed, and better than all before it in its series.
  bool is_record = false;
  bool is_best = false;  ///< the last record: the best version so far
};

/// Finds records and the best, oldest first. A metric without a better direction has no best.
[[nodiscard]] std::vector<HistoryEntry> result_history(std::vector<StoredMeasurement> stored);

/// Selects the records of a history to return.
struct HistoryPart {
  enum class From { oldest, newest } from = From::oldest;
  std::size_t skipped = 0;  ///< records to skip
  std::size_t limit = std::size_t{1} << 40;
};

/// A part of a history, judged on the whole history.
struct StoredHistory {
  std::vector<HistoryEntry> entries = {};  ///< oldest first
  std::size_t all = 0;                     ///< number of records in the history
};

/// The history of a database's records, which are read page by page: only the records of the part,
/// and the best of each series, are in memory.
[[nodiscard]] StoredHistory stored_history(const EvaluationDatabase& database,
                                           const RecordFilter& filter,
                                           const HistoryPart& part = {});

/// A page of it, oldest first. Of all other records only the values of the page's metrics are read,
/// which determine the best. Throws: ValueError for an unknown place.
[[nodiscard]] StoredPage<HistoryEntry> history_page(const EvaluationDatabase& database,
                                                    const RecordFilter& filter,
                                                    const PageAsked& page);

/// A row per record: time, version, value, and whether it is the best of its series, with the
/// conditions that differ.
[[nodiscard]] TextTable history_table(const std::vector<HistoryEntry>& history);

/// A plot per metric: values with intervals over runs, a line per series.
[[nodiscard]] std::vector<Plot> history_plots(const std::vector<HistoryEntry>& history);

}  // namespace d5
