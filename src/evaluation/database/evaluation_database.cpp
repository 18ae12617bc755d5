// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/evaluation_database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "core/files/sha256.hpp"
#include "d5/core/error.hpp"
#include "evaluation/database/open_database.hpp"
#include "evaluation/database/packed_queries.hpp"
#include "evaluation/database/renamed_run.hpp"
#include "evaluation/database/stored_rows.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using detail::SqlConnection;
using detail::SqlRow;

/// Says that a piece is written; false where it is already.
bool begin_piece(SqlConnection& connection, const std::string& run, const std::string& piece,
                 const char* kind, std::size_t count) {
  if (connection.query("SELECT 1 FROM run WHERE id = $1", {run}).rows.empty()) {
    throw NotFound(fmt::format("database: run '{}' is not there; it is told before its pieces",
                               printable(run)));
  }
  return connection.change(
             "INSERT INTO piece (run, name, kind, number, count) SELECT $1, $2, $3, COUNT(*), $4 "
             "FROM piece WHERE run = $1 ON CONFLICT DO NOTHING",
             {run, piece, std::string(kind), std::int64_t(count)}) == 1;
}

void add_artefacts(SqlConnection& connection, const std::string& run,
                   std::span<const Measurement> records) {
  std::set<std::vector<std::string>> once;
  for (const auto& record : records) {
    for (const auto& [name, version, sha256] : record.artefacts) {
      const std::vector<std::string> row = {sha256, name, version};
      if (sha256.empty() || !once.insert(row).second) continue;
      connection.change(
          "INSERT INTO artefact (run, sha256, name, version) VALUES ($1, $2, $3, $4) ON CONFLICT "
          "DO NOTHING",
          {run, detail::stored_text(sha256), detail::stored_text(name),
           detail::stored_text(version)});
    }
  }
}

const std::vector<PiecewiseRun::Piece>& no_pieces() {
  static const std::vector<PiecewiseRun::Piece> none;
  return none;
}

}  // namespace

std::string usual_database() {
  if (const char* named = std::getenv("D5_DATABASE"); named && *named) return named;
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data && fs::path(data).is_absolute()) return (fs::path(data) / "d5" / "d5.db").string();
  if (home && *home) return (fs::path(home) / ".local/share/d5/d5.db").string();
  throw IoError("there is no folder for a database: set HOME, or D5_DATABASE to an address");
}

EvaluationDatabase::EvaluationDatabase(std::unique_ptr<SqlConnection> connection)
    : connection_(std::move(connection)) {}
EvaluationDatabase::~EvaluationDatabase() = default;

std::unique_ptr<EvaluationDatabase> EvaluationDatabase::open(const std::string& address) {
  return open(address, {});
}

std::unique_ptr<EvaluationDatabase> EvaluationDatabase::open(const std::string& address,
                                                             const Options& options) {
  auto connection = detail::open_database(
      address, {.missing = options.access == Access::write ? detail::SqlOptions::Missing::made
                                                           : detail::SqlOptions::Missing::refused,
                .wait_seconds = options.wait_seconds});
  return std::unique_ptr<EvaluationDatabase>(new EvaluationDatabase(std::move(connection)));
}

/// In a transaction of its own, unless one is under way.
template <class Work>
void EvaluationDatabase::write(const Work& work) {
  if (adopting_) return work();
  detail::write_all(*connection_, work);
}

void EvaluationDatabase::adopt(const EvaluationDatabase& other, const std::string& run,
                               const std::string& as) {
  detail::RenamedRun renamed(*this, as);
  write([&] {
    if (!connection_->query("SELECT 1 FROM run WHERE id = $1", {as}).rows.empty()) return;
    adopting_ = true;
    try {
      other.copy_to(renamed, run);
    } catch (...) {
      adopting_ = false;
      throw;
    }
    adopting_ = false;
  });
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

void EvaluationDatabase::evaluation(const EvaluationRun& run) {
  const std::string environment = detail::environment_json(run.environment);
  const std::string facts = detail::machine_facts(environment);
  const std::string system = detail::sha256(facts);
  write([&] {
    if (!run.key.empty()) {
      connection_->change(
          "INSERT INTO evaluation (key, manifest) VALUES ($1, $2) ON CONFLICT DO NOTHING",
          {run.key, run.manifest});
    }
    connection_->change(
        "INSERT INTO system (id, hostname, cpu, facts) VALUES ($1, $2, $3, $4) ON CONFLICT DO "
        "NOTHING",
        {system, detail::stored_text(run.environment.hostname),
         detail::stored_text(run.environment.cpu), detail::stored_text(facts)});
    const detail::SqlValue key = run.key.empty() ? detail::SqlValue() : detail::SqlValue(run.key);
    connection_->change(
        "INSERT INTO run (id, evaluation, system, time, command, environment) VALUES ($1, $2, $3, "
        "$4, $5, $6) ON CONFLICT DO NOTHING",
        {run.id, key, system, run.environment.time, detail::stored_text(run.command),
         detail::stored_text(environment)});
  });
}

void EvaluationDatabase::measurements(const std::string& run, const std::string& piece,
                                      std::span<const Measurement> records) {
  static const std::vector<std::string> kColumns = [] {
    std::vector<std::string> columns = {"run", "piece", "number"};
    columns.insert(columns.end(), detail::kTextColumns.begin(), detail::kTextColumns.end());
    for (const char* name :
         {"conditions", "artefacts", "value", "low", "high", "confidence", "count", "samples"}) {
      columns.emplace_back(name);
    }
    return columns;
  }();
  write([&] {
    if (!begin_piece(*connection_, run, piece, "measurements", records.size())) return;
    connection_->append("measurement", kColumns, records.size(), [&](std::size_t i, SqlRow& row) {
      const Measurement& record = records[i];
      const Estimate number = estimate(record);
      row = {run, piece, std::int64_t(i)};
      for (auto& text : detail::record_texts(record)) row.push_back(std::move(text));
      for (const double value :
           {number.value, number.interval.low, number.interval.high, number.confidence}) {
        row.emplace_back(value);
      }
      row.emplace_back(std::int64_t(record.samples.size()));
      row.emplace_back(detail::pack_numbers(record.samples));
    });
    add_artefacts(*connection_, run, records);
  });
}

void EvaluationDatabase::queries(const std::string& run, const std::string& piece,
                                 std::span<const QueryRecord> records) {
  constexpr std::size_t kBlock = detail::kQueriesInBlock;
  write([&] {
    if (!begin_piece(*connection_, run, piece, "queries", records.size())) return;
    const std::size_t blocks = (records.size() + kBlock - 1) / kBlock;
    connection_->append(
        "query_block", {"run", "piece", "block", "count", "records"}, blocks,
        [&](std::size_t i, SqlRow& row) {
          const std::size_t count = std::min(kBlock, records.size() - i * kBlock);
          row = {run, piece, std::int64_t(i), std::int64_t(count),
                 detail::SqlBytes{detail::pack_queries(records.subspan(i * kBlock, count))}};
        });
  });
}

void EvaluationDatabase::answers(const std::string& run, const std::string& piece,
                                 std::span<const SampleAnswer> answers) {
  write([&] {
    if (!begin_piece(*connection_, run, piece, "answers", answers.size())) return;
    connection_->append("answer", {"run", "piece", "number", "sample", "answer", "score"},
                        answers.size(), [&](std::size_t i, SqlRow& row) {
                          const auto& [sample, answer, score] = answers[i];
                          row = {run,  piece, std::int64_t(i), sample, detail::stored_text(answer),
                                 score};
                        });
  });
}

void EvaluationDatabase::trace(const std::string& run, const std::string& piece,
                               const Timeline& timeline) {
  write([&] {
    if (!begin_piece(*connection_, run, piece, "trace", timeline.records.size())) return;
    connection_->change("INSERT INTO trace (run, piece, timeline) VALUES ($1, $2, $3)",
                        {run, piece, detail::pack_text(to_json(timeline))});
  });
}

std::string EvaluationDatabase::add(const Results& results, const std::string& command) {
  EvaluationRun run;
  constexpr std::size_t kDigits = 32;
  run.id = detail::sha256(to_json(results)).substr(0, kDigits);
  run.command = command.empty() && !results.measurements.empty()
                    ? results.measurements.front().command
                    : command;
  run.environment = results.environment;
  evaluation(run);
  std::span<const Measurement> rest = results.measurements;
  std::map<std::string, int> names;
  for (const auto& [name, records] : results.run ? results.run->pieces : no_pieces()) {
    const std::size_t count = std::min(records, rest.size());
    const int times = ++names[name];  // a case may be asked for twice
    measurements(run.id, times == 1 ? name : fmt::format("{} ({})", name, times),
                 rest.first(count));
    rest = rest.subspan(count);
  }
  if (!rest.empty()) measurements(run.id, "results", rest);
  return run.id;
}

}  // namespace d5
