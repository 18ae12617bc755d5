// SPDX-License-Identifier: Apache-2.0
// Queries for records.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/results/conditions_json.hpp"
#include "core/results/record_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "evaluation/database/page_place.hpp"
#include "evaluation/database/record_conditions.hpp"
#include "evaluation/database/stored_rows.hpp"

namespace d5 {
namespace {

using detail::integer_of;
using detail::limit_of;
using detail::number_of;
using detail::refuse_place;
using detail::row_at;
using detail::SqlConnection;
using detail::SqlRow;
using detail::SqlTable;
using detail::text_of;

/// Reads records run by run in order of time: a page ends the search as soon as it is full. CROSS
/// JOIN makes SQLite keep this order.
constexpr const char* kRecords =
    "FROM run r CROSS JOIN piece p CROSS JOIN measurement m JOIN system s ON s.id = r.system WHERE "
    "p.run = r.id AND p.kind = 'measurements' AND m.run = p.run AND m.piece = p.name";

/// The place at which a page of records begins.
struct RecordPlace {
  std::string time, run;
  std::int64_t piece,
      number;  ///< number of the piece within its run, and of the record within its piece
};
RecordPlace place_of(SqlConnection& connection, const std::string& place) {
  const std::size_t last = place.rfind('.');
  const std::size_t middle =
      last == std::string::npos || last == 0 ? std::string::npos : place.rfind('.', last - 1);
  if (middle == std::string::npos) refuse_place(place);
  const std::string run = place.substr(0, middle);
  const SqlTable found = connection.query("SELECT time FROM run WHERE id = $1", {run});
  if (found.rows.empty()) refuse_place(place);
  const std::int64_t piece = row_at(place.substr(middle + 1, last - middle - 1));
  return {text_of(found.rows[0][0]), run, piece, row_at(place.substr(last + 1))};
}

/// The columns of `passed_values`, as SQL and in order.
constexpr const char* kOfSeries =
    "m.subject, m.framework, m.device, m.metric, m.statistic, m.direction, m.conditions, m.value, "
    "s.hostname";

StoredMeasurement value_from(const SqlRow& row) {
  StoredMeasurement stored;
  Measurement& m = stored.record;
  m.subject = text_of(row[0]);
  m.framework = text_of(row[1]);
  m.device = text_of(row[2]);
  m.metric = text_of(row[3]);
  const auto statistic = statistic_from(text_of(row[4]));
  const auto direction = std::ranges::find(detail::kDirections, text_of(row[5]));
  if (!statistic || direction == detail::kDirections.end()) {
    throw FormatError("database: the words of a record are damaged");
  }
  m.statistic = *statistic;
  m.direction = Direction(direction - detail::kDirections.begin());
  m.conditions = detail::conditions_from_json(text_of(row[6]), "database");
  m.status = Status::passed;
  stored.estimate.value = number_of(row[7]);
  stored.hostname = text_of(row[8]);
  return stored;
}

}  // namespace

std::vector<StoredMeasurement> EvaluationDatabase::measurements(const RecordFilter& filter,
                                                                Samples samples) const {
  return measurements(filter, samples, {}).items;
}

StoredPage<StoredMeasurement> EvaluationDatabase::measurements(const RecordFilter& filter,
                                                               Samples samples,
                                                               const PageAsked& page) const {
  detail::RecordConditions where(filter);
  if (!page.from.empty()) {
    const RecordPlace from = place_of(*connection_, page.from);
    where.also("r.time >= {} AND (r.time, r.id, p.number, m.number) >= ({}, {}, {}, {})",
               {from.time, from.time, from.run, from.piece, from.number});
  }
  const bool with = samples == Samples::with;
  constexpr std::size_t kOthers = 10;  // columns before those of `records_from`
  SqlTable table = connection_->query(
      fmt::format(
          "SELECT r.id, m.piece, r.time, s.hostname, m.value, m.low, m.high, m.confidence, "
          "p.number, m.number, m.{}, m.conditions, m.artefacts{} {} AND {} ORDER BY r.time, "
          "r.id, p.number, m.number {}",
          fmt::join(detail::kTextColumns, ", m."), with ? ", m.samples" : "", kRecords,
          where.text(), limit_of(page)),
      where.values());
  StoredPage<StoredMeasurement> stored;
  if (table.rows.size() > page.limit) {
    const SqlRow& next = table.rows[page.limit];
    stored.next =
        fmt::format("{}.{}.{}", text_of(next[0]), integer_of(next[8]), integer_of(next[9]));
    table.rows.pop_back();
  }
  std::vector<SqlRow> texts;
  for (const SqlRow& row : table.rows) texts.emplace_back(row.begin() + kOthers, row.end());
  std::vector<Measurement> records = detail::records_from(texts);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const SqlRow& row = table.rows[i];
    if (with) {
      records[i].samples = detail::unpack_numbers(detail::as_written<detail::SqlBytes>(row.back()));
    }
    stored.items.push_back(
        {.run = text_of(row[0]),
         .piece = text_of(row[1]),
         .time = text_of(row[2]),
         .hostname = text_of(row[3]),
         .record = std::move(records[i]),
         .estimate = {
             number_of(row[4]), {number_of(row[5]), number_of(row[6])}, number_of(row[7])}});
  }
  return stored;
}

Results EvaluationDatabase::results(const std::string& run) const {
  Results results{this->run(run).environment, {}};
  for (auto& stored : measurements({.run = run}, Samples::with)) {
    results.measurements.push_back(std::move(stored.record));
  }
  return results;
}

void EvaluationDatabase::passed_values(
    const RecordFilter& filter, const std::vector<std::string>& metrics, const std::string& place,
    const std::function<void(const StoredMeasurement&, bool is_before)>& add) const {
  detail::RecordConditions where(filter);
  where.any_of("m.metric", metrics);
  std::string is_before = "0";
  if (!place.empty()) {
    const RecordPlace at = place_of(*connection_, place);
    std::string places;
    for (const detail::SqlValue& value : SqlRow{at.time, at.run, at.piece, at.number}) {
      places += (places.empty() ? "" : ", ") + where.place(value);
    }
    is_before = "CASE WHEN (time, run, piece, number) < (" + places + ") THEN 1 ELSE 0 END";
  }
  connection_->read(
      fmt::format("WITH told AS (SELECT {}, r.time AS time, r.id AS run, p.number AS piece, "
                  "m.number AS number {} AND {} AND m.status = 'passed' AND m.value IS NOT NULL) "
                  "SELECT subject, framework, device, metric, statistic, direction, conditions, "
                  "value, hostname, {} FROM told",
                  kOfSeries, kRecords, where.text(), is_before),
      where.values(), [](const std::vector<std::string>&) {},
      [&](const SqlRow& row) { add(value_from(row), integer_of(row.back()) != 0); });
}

}  // namespace d5
