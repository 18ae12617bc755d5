// SPDX-License-Identifier: Apache-2.0
// Queries for runs, pieces, queries, answers and traces.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "d5/evaluation/database/evaluation_title.hpp"
#include "evaluation/database/packed_queries.hpp"
#include "evaluation/database/page_place.hpp"
#include "evaluation/database/reading.hpp"
#include "evaluation/database/record_conditions.hpp"
#include "evaluation/database/stored_rows.hpp"

namespace d5 {

using detail::integer_of;
using detail::limit_of;
using detail::number_of;
using detail::pattern_of;
using detail::refuse_place;
using detail::row_at;
using detail::SqlRow;
using detail::SqlTable;
using detail::SqlValue;
using detail::text_of;

std::vector<StoredRun> EvaluationDatabase::runs(const RecordFilter& filter) const {
  return runs(filter, {}).items;
}

StoredPage<StoredRun> EvaluationDatabase::runs(const RecordFilter& filter,
                                               const PageAsked& page) const {
  detail::RecordConditions where(filter);
  if (!page.from.empty()) {  // the first run of the page
    const SqlTable first = connection_->query("SELECT time FROM run WHERE id = $1", {page.from});
    if (first.rows.empty()) refuse_place(page.from);
    const SqlValue& time = first.rows[0][0];
    where.also("r.time <= {} AND (r.time < {} OR r.id >= {})", {time, time, page.from});
  }
  // Selects the page first, by its key, so that only records of its runs are counted.
  const std::string with_records =
      where.asks_records()
          ? fmt::format(" AND EXISTS (SELECT 1 FROM measurement m WHERE m.run = r.id{})",
                        where.of_records())
          : "";
  const SqlTable table = connection_->query(
      fmt::format(
          "WITH page AS (SELECT r.id, r.evaluation, r.time, r.command, s.hostname, s.cpu, s.id AS "
          "system FROM run r JOIN system s ON s.id = r.system WHERE {}{}{} ORDER BY r.time DESC, "
          "r.id {}) SELECT r.id, r.evaluation, r.time, r.command, r.hostname, r.cpu, r.system, "
          "COUNT(m.number), COUNT(CASE WHEN m.status <> 'passed' THEN 1 END), e.manifest FROM page "
          "r LEFT JOIN evaluation e ON e.key = r.evaluation LEFT JOIN measurement m ON m.run = "
          "r.id{} GROUP BY r.id, r.evaluation, r.time, r.command, r.hostname, r.cpu, r.system, "
          "e.manifest ORDER BY r.time DESC, r.id",
          where.of_runs(), with_records, where.more(), limit_of(page), where.of_records()),
      where.values());
  StoredPage<StoredRun> runs;
  for (const SqlRow& row : table.rows) {
    if (runs.items.size() == page.limit) {
      runs.next = text_of(row[0]);
      break;
    }
    runs.items.push_back({.id = text_of(row[0]),
                          .key = text_of(row[1]),
                          .time = text_of(row[2]),
                          .command = text_of(row[3]),
                          .hostname = text_of(row[4]),
                          .cpu = text_of(row[5]),
                          .system = text_of(row[6]),
                          .records = integer_of(row[7]),
                          .not_passed = integer_of(row[8]),
                          .title = evaluation_title(text_of(row[9]))});
  }
  return runs;
}

std::string EvaluationDatabase::run_id(const std::string& beginning) const {
  const SqlTable table =
      connection_->query("SELECT id FROM run WHERE id LIKE $1 ESCAPE '\\' ORDER BY id LIMIT 3",
                         {pattern_of(beginning) + "%"});
  if (table.rows.size() == 1) return text_of(table.rows[0][0]);
  if (table.rows.empty()) {
    throw NotFound(fmt::format("the database has no run '{}'; 'd5 eval history' lists them",
                               printable(beginning)));
  }
  throw NotFound(
      fmt::format("'{}' begins the ids of several runs, such as {} and {}; give more of it",
                  printable(beginning), text_of(table.rows[0][0]), text_of(table.rows[1][0])));
}

EvaluationRun EvaluationDatabase::run(const std::string& id) const {
  const SqlTable table = connection_->query(
      "SELECT r.evaluation, e.manifest, r.command, r.environment FROM run r LEFT JOIN evaluation e "
      "ON e.key = r.evaluation WHERE r.id = $1",
      {id});
  if (table.rows.empty()) {
    throw NotFound(fmt::format("the database has no run '{}'", printable(id)));
  }
  const SqlRow& row = table.rows.front();
  EvaluationRun run;
  run.id = id;
  run.key = text_of(row[0]);
  run.manifest = text_of(row[1]);
  run.command = text_of(row[2]);
  run.environment = detail::environment_from(text_of(row[3]));
  return run;
}

std::vector<StoredPiece> EvaluationDatabase::pieces(const std::string& run) const {
  const SqlTable table = connection_->query(
      "SELECT name, kind, count FROM piece WHERE run = $1 ORDER BY number, kind", {run});
  std::vector<StoredPiece> pieces;
  for (const SqlRow& row : table.rows) {
    pieces.push_back({text_of(row[0]), text_of(row[1]), integer_of(row[2])});
  }
  return pieces;
}

std::vector<QueryRecord> EvaluationDatabase::queries(const std::string& run,
                                                     const std::string& piece) const {
  return queries(run, piece, {}).items;
}

StoredPage<QueryRecord> EvaluationDatabase::queries(const std::string& run,
                                                    const std::string& piece,
                                                    const PageAsked& page) const {
  constexpr auto kBlock = std::int64_t(detail::kQueriesInBlock);  // size of all blocks but the last
  const std::int64_t first = row_at(page.from);
  const std::int64_t beyond = first + std::int64_t(page.limit);
  std::vector<QueryRecord> records;
  const SqlTable table = connection_->query(
      "SELECT count, records FROM query_block WHERE run = $1 AND piece = $2 AND block BETWEEN $3 "
      "AND $4 ORDER BY block",
      {run, piece, first / kBlock, beyond / kBlock});
  for (const SqlRow& row : table.rows) {
    detail::unpack_queries(detail::as_written<detail::SqlBytes>(row[1]).bytes,
                           std::size_t(integer_of(row[0])), records);
  }
  const auto skipped = std::min<std::size_t>(std::size_t(first % kBlock), records.size());
  records.erase(records.begin(), records.begin() + std::ptrdiff_t(skipped));
  const bool is_last = records.size() <= page.limit;
  if (!is_last) records.resize(page.limit);
  return {std::move(records), is_last ? "" : std::to_string(beyond)};
}

std::vector<SampleAnswer> EvaluationDatabase::answers(const std::string& run,
                                                      const std::string& piece) const {
  return answers(run, piece, Answers::all, {}).items;
}

StoredPage<SampleAnswer> EvaluationDatabase::answers(const std::string& run,
                                                     const std::string& piece, Answers which,
                                                     const PageAsked& page) const {
  const SqlTable table = connection_->query(
      fmt::format("SELECT sample, answer, score, number FROM answer WHERE run = $1 AND piece = $2 "
                  "AND number >= $3 {} ORDER BY number {}",
                  which == Answers::wrong ? "AND score < 0.5" : "", limit_of(page)),
      {run, piece, row_at(page.from)});
  StoredPage<SampleAnswer> answers;
  for (const SqlRow& row : table.rows) {
    if (answers.items.size() == page.limit) {
      answers.next = std::to_string(integer_of(row[3]));
      break;
    }
    answers.items.push_back({integer_of(row[0]), text_of(row[1]), number_of(row[2])});
  }
  return answers;
}

Timeline EvaluationDatabase::trace(const std::string& run, const std::string& piece) const {
  return timeline_from_json(trace_text(run, piece), "trace of run " + run);
}

std::string EvaluationDatabase::trace_text(const std::string& run, const std::string& piece) const {
  const SqlTable table =
      connection_->query("SELECT timeline FROM trace WHERE run = $1 AND piece = $2", {run, piece});
  if (table.rows.empty()) {
    throw NotFound(fmt::format("the database has no trace of '{}' in run '{}'", printable(piece),
                               printable(run)));
  }
  constexpr std::size_t kMostBytes = std::size_t{1} << 31;
  return detail::unpack_text(detail::as_written<detail::SqlBytes>(table.rows[0][0]), kMostBytes);
}

TextTable EvaluationDatabase::sql(const std::string& statement) const {
  TextTable table({});
  sql(
      statement,
      [&](std::vector<std::string> titles) { table = TextTable({titles.begin(), titles.end()}); },
      [&](std::vector<std::string> row) { table.add(std::move(row)); });
  return table;
}

void EvaluationDatabase::sql(const std::string& statement, const Words& titles,
                             const Words& row) const {
  const auto word = [](const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    if (const auto* bytes = std::get_if<detail::SqlBytes>(&value)) {
      return fmt::format("({} bytes)", bytes->bytes.size());
    }
    return text_of(value);
  };
  const detail::Reading reading(*connection_);
  connection_->read(statement, {}, titles, [&](const SqlRow& values) {
    std::vector<std::string> words;
    std::ranges::transform(values, std::back_inserter(words), word);
    row(std::move(words));
  });
}

}  // namespace d5
