// SPDX-License-Identifier: Apache-2.0
// What a database answers.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/evaluation/evaluation_database.hpp"
#include "evaluation/database/packed_queries.hpp"
#include "evaluation/database/stored_rows.hpp"

namespace d5 {
namespace {

using detail::SqlConnection;
using detail::SqlRow;
using detail::SqlTable;
using detail::SqlValue;

/// All that a transaction reads is of one moment.
class Reading {
 public:
  explicit Reading(SqlConnection& connection) : connection_(connection) {
    connection_.begin_reading();
  }
  ~Reading() { connection_.roll_back(); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  SqlConnection& connection_;
};

std::string text_of(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? *text : std::string();
}
std::int64_t integer_of(const SqlValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? *integer : 0;
}
double number_of(const SqlValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? double(*integer) : std::numeric_limits<double>::quiet_NaN();
}

/// What LIKE takes for the text: "*" becomes its "%", and its own signs stand for themselves.
std::string pattern_of(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c == '*' ? '%' : c;
  }
  return pattern;
}

/// Conditions on a record, or where `records` is false on a run that has such records.
class Where {
 public:
  explicit Where(const RecordFilter& filter) {
    like("r.id", filter.run, "%");
    like("r.evaluation", filter.key, "%");
    like("s.hostname", filter.hostname);
    compare("r.time >= ", filter.since);
    compare("r.time <= ", filter.until);
    if (!filter.artefact.empty()) {
      text_ += fmt::format(
          " AND EXISTS (SELECT 1 FROM artefact a WHERE a.run = r.id AND a.sha256 LIKE {} ESCAPE "
          "'\\')",
          place(pattern_of(filter.artefact) + "%"));
    }
    const std::size_t of_runs = text_.size();
    like("m.subject", filter.subject);
    like("m.level", filter.level);
    like("m.framework", filter.framework);
    like("m.device", filter.device);
    like("m.metric", filter.metric);
    like("m.status", filter.status);
    asks_records_ = text_.size() > of_runs;
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const SqlRow& values() const { return values_; }
  [[nodiscard]] bool asks_records() const { return asks_records_; }

 private:
  std::string place(std::string value) {
    values_.emplace_back(std::move(value));
    return fmt::format("${}", values_.size());
  }
  void like(const char* column, const std::string& text, const char* ending = "") {
    if (text.empty()) return;
    text_ += fmt::format(" AND {} LIKE {} ESCAPE '\\'", column, place(pattern_of(text) + ending));
  }
  void compare(const char* what, const std::string& text) {
    if (!text.empty()) text_ += " AND " + std::string(what) + place(text);
  }

  std::string text_ = "1 = 1";
  SqlRow values_;
  bool asks_records_ = false;
};

}  // namespace

std::vector<StoredRun> EvaluationDatabase::runs(const RecordFilter& filter) const {
  const Where where(filter);
  const SqlTable table = connection_->query(
      fmt::format("SELECT r.id, r.evaluation, r.time, r.command, s.hostname, s.cpu, s.id, "
                  "COUNT(m.number), COUNT(CASE WHEN m.status <> 'passed' THEN 1 END) "
                  "FROM run r JOIN system s ON s.id = r.system {} JOIN measurement m ON m.run = "
                  "r.id WHERE {} GROUP BY r.id, r.evaluation, r.time, r.command, s.hostname, "
                  "s.cpu, s.id ORDER BY r.time DESC, r.id",
                  where.asks_records() ? "" : "LEFT", where.text()),
      where.values());
  std::vector<StoredRun> runs;
  for (const SqlRow& row : table.rows) {
    runs.push_back({.id = text_of(row[0]),
                    .key = text_of(row[1]),
                    .time = text_of(row[2]),
                    .command = text_of(row[3]),
                    .hostname = text_of(row[4]),
                    .cpu = text_of(row[5]),
                    .system = text_of(row[6]),
                    .records = integer_of(row[7]),
                    .not_passed = integer_of(row[8])});
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

std::vector<StoredMeasurement> EvaluationDatabase::measurements(const RecordFilter& filter,
                                                                Samples samples) const {
  const Where where(filter);
  const bool with = samples == Samples::with;
  constexpr std::size_t kOthers = 8;  // columns before those of `records_from`
  const SqlTable table = connection_->query(
      fmt::format("SELECT r.id, m.piece, r.time, s.hostname, m.value, m.low, m.high, m.confidence, "
                  "m.{}, m.conditions, m.artefacts{} FROM measurement m JOIN run r ON r.id = m.run "
                  "JOIN system s ON s.id = r.system JOIN piece p ON p.run = m.run AND p.name = "
                  "m.piece AND p.kind = 'measurements' WHERE {} ORDER BY r.time, r.id, p.number, "
                  "m.number",
                  fmt::join(detail::kTextColumns, ", m."), with ? ", m.samples" : "", where.text()),
      where.values());
  std::vector<SqlRow> texts;
  for (const SqlRow& row : table.rows) texts.emplace_back(row.begin() + kOthers, row.end());
  std::vector<Measurement> records = detail::records_from(texts);
  std::vector<StoredMeasurement> stored;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const SqlRow& row = table.rows[i];
    if (with) records[i].samples = detail::unpack_numbers(std::get<detail::SqlBytes>(row.back()));
    stored.push_back(
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

std::vector<QueryRecord> EvaluationDatabase::queries(const std::string& run,
                                                     const std::string& piece) const {
  std::vector<QueryRecord> records;
  const SqlTable table = connection_->query(
      "SELECT count, records FROM query_block WHERE run = $1 AND piece = $2 ORDER BY block",
      {run, piece});
  for (const SqlRow& row : table.rows) {
    detail::unpack_queries(std::get<detail::SqlBytes>(row[1]).bytes,
                           std::size_t(integer_of(row[0])), records);
  }
  return records;
}

std::vector<SampleAnswer> EvaluationDatabase::answers(const std::string& run,
                                                      const std::string& piece) const {
  std::vector<SampleAnswer> answers;
  const SqlTable table = connection_->query(
      "SELECT sample, answer, score FROM answer WHERE run = $1 AND piece = $2 ORDER BY number",
      {run, piece});
  for (const SqlRow& row : table.rows) {
    answers.push_back({integer_of(row[0]), text_of(row[1]), number_of(row[2])});
  }
  return answers;
}

Timeline EvaluationDatabase::trace(const std::string& run, const std::string& piece) const {
  const SqlTable table =
      connection_->query("SELECT timeline FROM trace WHERE run = $1 AND piece = $2", {run, piece});
  if (table.rows.empty()) {
    throw NotFound(fmt::format("the database has no trace of '{}' in run '{}'", printable(piece),
                               printable(run)));
  }
  constexpr std::size_t kMostBytes = std::size_t{1} << 31;
  return timeline_from_json(
      detail::unpack_text(std::get<detail::SqlBytes>(table.rows[0][0]), kMostBytes),
      "trace of run " + run);
}

TextTable EvaluationDatabase::sql(const std::string& statement) const {
  const Reading reading(*connection_);
  const SqlTable table = connection_->query(statement);
  std::vector<TextTable::Column> columns(table.columns.begin(), table.columns.end());
  TextTable text(std::move(columns));
  const auto word = [](const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    if (const auto* bytes = std::get_if<detail::SqlBytes>(&value)) {
      return fmt::format("({} bytes)", bytes->bytes.size());
    }
    return text_of(value);
  };
  for (const SqlRow& row : table.rows) {
    std::vector<std::string> words;
    std::ranges::transform(row, std::back_inserter(words), word);
    text.add(std::move(words));
  }
  return text;
}

void EvaluationDatabase::copy_to(EvaluationSink& sink, const std::string& run) const {
  sink.evaluation(this->run(run));
  const auto all = measurements({.run = run}, Samples::with);
  for (const auto& [name, kind, count] : pieces(run)) {
    if (kind == "queries") sink.queries(run, name, queries(run, name));
    if (kind == "answers") sink.answers(run, name, answers(run, name));
    if (kind == "trace") sink.trace(run, name, trace(run, name));
    if (kind != "measurements") continue;
    std::vector<Measurement> records;
    for (const auto& one : all) {
      if (one.piece == name) records.push_back(one.record);
    }
    sink.measurements(run, name, records);
  }
}

}  // namespace d5
