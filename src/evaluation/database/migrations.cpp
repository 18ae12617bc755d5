// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/migrations.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "d5/version.hpp"

namespace d5::detail {
namespace {

struct Migration {
  std::string_view name;
  std::string_view statements;
  std::string_view append_only;  ///< tables whose rows are never changed, separated by spaces
};

/// Step i turns schema i into schema i + 1. Released steps are never edited: a change is a new
/// step.
constexpr std::array<Migration, EvaluationDatabase::kSchema> kMigrations = {{
    {"runs, records, queries, answers, traces",
     R"sql(
CREATE TABLE evaluation (
  key TEXT PRIMARY KEY,              -- SHA-256 of the manifest
  manifest TEXT NOT NULL);           -- canonical JSON

CREATE TABLE system (
  id TEXT PRIMARY KEY,               -- SHA-256 of the facts
  hostname TEXT NOT NULL,
  cpu TEXT NOT NULL,
  facts TEXT NOT NULL);              -- JSON: what of an environment a machine has

CREATE TABLE run (
  id TEXT PRIMARY KEY,
  evaluation TEXT REFERENCES evaluation (key),
  system TEXT NOT NULL REFERENCES system (id),
  time TEXT NOT NULL,                -- ISO 8601, UTC
  command TEXT NOT NULL,
  environment TEXT NOT NULL);        -- JSON, whole
CREATE INDEX run_by_time ON run (time);
CREATE INDEX run_by_evaluation ON run (evaluation);

CREATE TABLE piece (                 -- what is written, and will not be again
  run TEXT NOT NULL REFERENCES run (id),
  name TEXT NOT NULL,
  kind TEXT NOT NULL,                -- measurements, queries, answers, trace
  number BIGINT NOT NULL,            -- within its run, in the order written
  count BIGINT NOT NULL,
  PRIMARY KEY (run, name, kind));

CREATE TABLE measurement (
  run TEXT NOT NULL REFERENCES run (id),
  piece TEXT NOT NULL,
  number BIGINT NOT NULL,            -- within its piece
  subject TEXT NOT NULL,
  command TEXT NOT NULL,
  level TEXT NOT NULL,
  framework TEXT NOT NULL,
  framework_version TEXT NOT NULL,
  device TEXT NOT NULL,
  metric TEXT NOT NULL,
  unit TEXT NOT NULL,
  quantity TEXT NOT NULL,
  direction TEXT NOT NULL,
  statistic TEXT NOT NULL,
  over_ranks TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  conditions TEXT NOT NULL,          -- JSON
  artefacts TEXT NOT NULL,           -- JSON
  value DOUBLE PRECISION,            -- the statistic of the samples, and its 95% interval
  low DOUBLE PRECISION,
  high DOUBLE PRECISION,
  confidence DOUBLE PRECISION,
  count BIGINT NOT NULL,             -- of samples
  samples BYTEA NOT NULL,            -- float64, little-endian, in the order taken
  PRIMARY KEY (run, piece, number));
CREATE INDEX measurement_by_subject ON measurement (subject, metric);

CREATE TABLE artefact (
  sha256 TEXT NOT NULL,
  run TEXT NOT NULL REFERENCES run (id),
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  PRIMARY KEY (sha256, run, name, version));

CREATE TABLE query_block (
  run TEXT NOT NULL REFERENCES run (id),
  piece TEXT NOT NULL,
  block BIGINT NOT NULL,             -- within its piece
  count BIGINT NOT NULL,
  records BYTEA NOT NULL,            -- docs/reference/file_formats.md, "Database"
  PRIMARY KEY (run, piece, block));

CREATE TABLE answer (
  run TEXT NOT NULL REFERENCES run (id),
  piece TEXT NOT NULL,
  number BIGINT NOT NULL,            -- within its piece
  sample BIGINT NOT NULL,            -- of the data set
  answer TEXT NOT NULL,
  score DOUBLE PRECISION,            -- 1 is right, 0 is wrong
  PRIMARY KEY (run, piece, number));

CREATE TABLE trace (
  run TEXT NOT NULL REFERENCES run (id),
  piece TEXT NOT NULL,
  timeline BYTEA NOT NULL,           -- a trace file, packed by zlib
  PRIMARY KEY (run, piece));
)sql",
     "evaluation system run piece measurement artefact query_block answer trace"},
    {"jobs and agents",
     R"sql(
CREATE TABLE agent (
  name TEXT PRIMARY KEY,
  facts TEXT NOT NULL,               -- JSON
  heartbeat DOUBLE PRECISION NOT NULL);  -- s since 1970

CREATE TABLE job_demand (
  id TEXT PRIMARY KEY,               -- SHA-256 of the constraints
  constraints TEXT NOT NULL);        -- canonical JSON

CREATE TABLE job_fit (               -- every demand held against every agent
  demand TEXT NOT NULL REFERENCES job_demand (id),
  agent TEXT NOT NULL REFERENCES agent (name),
  reason TEXT NOT NULL,              -- why not; empty: it fits
  PRIMARY KEY (demand, agent));

CREATE TABLE job (
  id TEXT PRIMARY KEY,
  number BIGINT NOT NULL UNIQUE,     -- in the order submitted
  request TEXT NOT NULL,             -- SHA-256 of the key, the place and the demand
  key TEXT NOT NULL,                 -- of the evaluation
  manifest TEXT NOT NULL,            -- canonical JSON
  place TEXT NOT NULL,               -- one, all, or a number of agents
  demand TEXT NOT NULL REFERENCES job_demand (id),
  priority BIGINT NOT NULL,
  submitted TEXT NOT NULL,           -- ISO 8601, UTC
  state TEXT NOT NULL);
CREATE UNIQUE INDEX job_by_request ON job (request)
  WHERE state NOT IN ('failed', 'cancelled', 'quarantined');
CREATE INDEX job_open ON job (priority DESC, number) WHERE state IN ('queued', 'leased', 'running');
CREATE INDEX job_by_key ON job (key);

CREATE TABLE job_part (              -- what one agent does of a job
  job TEXT NOT NULL REFERENCES job (id),
  number BIGINT NOT NULL,            -- within its job
  wanted TEXT NOT NULL,              -- the agent that must have it; empty: any that fits
  state TEXT NOT NULL,
  attempt BIGINT NOT NULL,
  losses BIGINT NOT NULL,            -- attempts that lapsed or crashed
  agent TEXT NOT NULL,               -- that has it or had it; empty: none
  reason TEXT NOT NULL,
  progress TEXT NOT NULL,
  leased TEXT NOT NULL,              -- ISO 8601, UTC; empty: not yet
  begun TEXT NOT NULL,
  ended TEXT NOT NULL,
  PRIMARY KEY (job, number));
CREATE INDEX job_part_held ON job_part (agent) WHERE state IN ('leased', 'running');

CREATE TABLE job_event (
  number BIGINT PRIMARY KEY,         -- without a gap, in the order seen
  time TEXT NOT NULL,                -- ISO 8601, UTC
  job TEXT NOT NULL REFERENCES job (id),
  state TEXT NOT NULL,               -- of the job, from then on
  part BIGINT NOT NULL,              -- -1: of the job as a whole
  part_state TEXT NOT NULL,
  agent TEXT NOT NULL,
  text TEXT NOT NULL);
CREATE INDEX job_event_by_job ON job_event (job, number);

CREATE TABLE job_counter (
  name TEXT PRIMARY KEY,
  value BIGINT NOT NULL);
INSERT INTO job_counter (name, value) VALUES ('job', 0), ('event', 0);
)sql",
     "job_event"},
    {"owners of jobs",
     R"sql(
ALTER TABLE job ADD COLUMN owner TEXT NOT NULL DEFAULT '';  -- whose token asked for it
)sql",
     ""},
}};

std::int64_t version_of(SqlConnection& connection) {
  if (!connection.has_table("schema_version")) return 0;
  const SqlTable table = connection.query("SELECT MAX(version) FROM schema_version");
  const auto* version = std::get_if<std::int64_t>(&table.rows.at(0).at(0));
  return version ? *version : 0;
}

void apply(SqlConnection& connection, std::int64_t done) {
  if (done == 0) {
    connection.run(
        "CREATE TABLE schema_version (version BIGINT PRIMARY KEY, name TEXT NOT NULL, d5 TEXT NOT "
        "NULL)");
  }
  for (; done < std::int64_t(kMigrations.size()); ++done) {
    const Migration& step = kMigrations[std::size_t(done)];
    connection.run(std::string(step.statements));
    std::istringstream tables{std::string(step.append_only)};
    for (std::string table; tables >> table;) connection.run(connection.append_only(table));
    connection.change("INSERT INTO schema_version (version, name, d5) VALUES ($1, $2, $3)",
                      {done + 1, std::string(step.name), std::string(D5_VERSION)});
  }
}

}  // namespace

void bring_up_to_date(SqlConnection& connection, const std::string& who, IfEmpty if_empty) {
  if (if_empty == IfEmpty::filled) connection.claim();
  constexpr std::int64_t kNewest = EvaluationDatabase::kSchema;
  const auto is_done = [&](std::int64_t version) {
    if (version <= kNewest) return version == kNewest;
    throw FormatError(fmt::format(
        "{} has schema {}, and this d5 knows 1 to {}; a newer d5 opens it", who, version, kNewest));
  };
  const std::int64_t found = version_of(connection);
  if (is_done(found)) return;
  if (found == 0 && if_empty == IfEmpty::refused) {
    throw FormatError(fmt::format("{} holds no results of d5", who));
  }
  write_all(connection, [&] {
    connection.lock_schema();
    const std::int64_t version = version_of(connection);  // another process may have done it
    if (!is_done(version)) apply(connection, version);
  });
}

}  // namespace d5::detail
