// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5 {

/// A record among those of the same kind that were measured before it.
struct HistoryEntry {
  StoredMeasurement stored;
  /// What it stands in a line with: its subject without a version ("lenet" of "lenet@1.2.0"), its
  /// framework, device, metric and conditions, the machine.
  std::string series;
  /// Passed, and better than all before it in its series.
  bool is_record = false;
  bool is_best = false;  ///< the last of these: the best version there is
};

/// The oldest first. Records whose metric has no better and worse are nobody's best.
[[nodiscard]] std::vector<HistoryEntry> result_history(std::vector<StoredMeasurement> stored);

/// Which records of a history are kept.
struct HistoryPart {
  enum class From { oldest, newest } from = From::oldest;
  std::size_t skipped = 0;  ///< from there
  std::size_t limit = std::size_t{1} << 40;
};

/// A part of a history; all was seen for it.
struct StoredHistory {
  std::vector<HistoryEntry> entries = {};  ///< the oldest first
  std::size_t all = 0;                     ///< records that there are
};

/// The history of a database's records, which are read page by page: in memory are those of the
/// part alone, and the best of each series.
[[nodiscard]] StoredHistory stored_history(const EvaluationDatabase& database,
                                           const RecordFilter& filter,
                                           const HistoryPart& part = {});

/// A page of it, the oldest first. What is read of all others are the values of the page's metrics
/// alone, which tell its best. Throws: ValueError for a place that no page told.
[[nodiscard]] StoredPage<HistoryEntry> history_page(const EvaluationDatabase& database,
                                                    const RecordFilter& filter,
                                                    const PageAsked& page);

/// A row a record: when, which version, what, and which is the best of its series. Of the
/// conditions those that differ.
[[nodiscard]] TextTable history_table(const std::vector<HistoryEntry>& history);

/// A plot a metric: values with intervals over the runs that made them, a line a series.
[[nodiscard]] std::vector<Plot> history_plots(const std::vector<HistoryEntry>& history);

}  // namespace d5
