// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluation/database_options.hpp"

#include <CLI/CLI.hpp>

namespace d5::app {

void add_database_option(CLI::App& command, std::string& address) {
  command
      .add_option("--database", address,
                  "database: a file, or postgresql://...; by default $D5_DATABASE, or d5.db in the "
                  "user's data")
      ->option_text("ADDRESS")
      ->group("Common options");
}

std::unique_ptr<EvaluationDatabase> open_database(const std::string& address,
                                                  EvaluationDatabase::Access access) {
  return EvaluationDatabase::open(address.empty() ? usual_database() : address, {.access = access});
}

void add_filter_options(CLI::App& command, RecordFilter& filter) {
  const auto add = [&](const char* name, std::string& value, const char* help, const char* text) {
    command.add_option(name, value, help)->option_text(text)->group("Record filters");
  };
  add("--run", filter.run, "run of the records: its id, or the beginning of it", "ID");
  add("--key", filter.key, "key of the evaluation", "HEX");
  add("--framework", filter.framework,
      "framework of the records; * matches any text here and below", "WORD");
  add("--metric", filter.metric, "metric of the records", "WORD");
  add("--level", filter.level, "level: operator, network, training, evaluation, ...", "WORD");
  add("--device", filter.device, "device of the records", "WORD");
  add("--status", filter.status, "status: passed, failed, mistrusted, skipped, unsupported",
      "WORD");
  add("--host", filter.hostname, "machine of the records", "NAME");
  add("--artefact", filter.artefact, "SHA-256 of a file that the run used", "HEX");
  add("--since", filter.since, "earliest time, in UTC: 2026-11-26, or with T and a time of day",
      "TIME");
  add("--until", filter.until, "latest time", "TIME");
}

}  // namespace d5::app
