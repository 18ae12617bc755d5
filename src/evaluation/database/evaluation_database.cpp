// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/database/evaluation_database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "evaluation/database/open_database.hpp"
#include "evaluation/database/stored_rows.hpp"
#include "evaluation/database/written_piece.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using detail::SqlConnection;

const std::vector<PiecewiseRun::Piece>& no_pieces() {
  static const std::vector<PiecewiseRun::Piece> none;
  return none;
}

}  // namespace

std::string named_database() {
  const char* named = std::getenv("D5_DATABASE");
  return named ? named : "";
}

std::string usual_database() {
  if (std::string named = named_database(); !named.empty()) return named;
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
  if (address.empty()) {
    throw ValueError("the database's address is empty; expected a file, or postgresql://HOST/NAME");
  }
  auto connection = detail::open_database(
      address, {.missing = options.access == Access::write ? detail::SqlOptions::Missing::made
                                                           : detail::SqlOptions::Missing::refused,
                .wait_seconds = options.wait_seconds});
  return std::unique_ptr<EvaluationDatabase>(new EvaluationDatabase(std::move(connection)));
}

/// Runs work in a transaction of its own, unless one is active.
void EvaluationDatabase::write(const std::function<void()>& work) {
  if (adopting_) return work();
  detail::write_all(*connection_, work);
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
  write([&] {
    detail::WrittenPiece written(*connection_, run, piece);
    if (written.begin("measurements", records.size())) written.add(records);
  });
}

void EvaluationDatabase::queries(const std::string& run, const std::string& piece,
                                 std::span<const QueryRecord> records) {
  write([&] {
    detail::WrittenPiece written(*connection_, run, piece);
    if (written.begin("queries", records.size())) written.add(records);
  });
}

void EvaluationDatabase::answers(const std::string& run, const std::string& piece,
                                 std::span<const SampleAnswer> answers) {
  write([&] {
    detail::WrittenPiece written(*connection_, run, piece);
    if (written.begin("answers", answers.size())) written.add(answers);
  });
}

void EvaluationDatabase::trace(const std::string& run, const std::string& piece,
                               const Timeline& timeline) {
  write([&] {
    detail::WrittenPiece written(*connection_, run, piece);
    if (!written.begin("trace", timeline.records.size())) return;
    connection_->change("INSERT INTO trace (run, piece, timeline) VALUES ($1, $2, $3)",
                        {run, piece, detail::pack_text(to_json(timeline))});
  });
}

std::string EvaluationDatabase::add(const Results& results, const std::string& command) {
  EvaluationRun run;
  constexpr std::size_t kDigits = 32;
  const std::string content = to_json(results);
  run.id = detail::sha256(content).substr(0, kDigits);
  run.command = command.empty() && !results.measurements.empty()
                    ? results.measurements.front().command
                    : command;
  // Results are kept once, but under another command they are another run.
  const auto kept = connection_->query("SELECT command FROM run WHERE id = $1", {run.id}).rows;
  if (!command.empty() && !kept.empty() &&
      detail::text_of(kept.front().front()) != detail::stored_text(command)) {
    run.id = detail::sha256(content + "\n" + command).substr(0, kDigits);
  }
  run.environment = results.environment;
  evaluation(run);
  std::span<const Measurement> rest = results.measurements;
  std::map<std::string, int> names;
  for (const auto& [name, records] : results.run ? results.run->pieces : no_pieces()) {
    const std::size_t count = std::min(records, rest.size());
    const int times = ++names[name];  // a case may occur twice
    measurements(run.id, times == 1 ? name : fmt::format("{} ({})", name, times),
                 rest.first(count));
    rest = rest.subspan(count);
  }
  if (!rest.empty()) measurements(run.id, "results", rest);
  return run.id;
}

}  // namespace d5
