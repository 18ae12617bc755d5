// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluation/database_options.hpp"

#include <CLI/CLI.hpp>

namespace d5::app {

void add_database_option(CLI::App& command, std::string& address) {
  command
      .add_option("--database", address,
                  "a file, or postgresql://...; else $D5_DATABASE, or d5.db in the user's data")
      ->option_text("ADDRESS")
      ->group("Common options");
}

std::unique_ptr<EvaluationDatabase> open_database(const std::string& address,
                                                  EvaluationDatabase::Access access) {
  return EvaluationDatabase::open(address.empty() ? usual_database() : address, {.access = access});
}

void add_filter_options(CLI::App& command, RecordFilter& filter) {
  const auto add = [&](const char* name, std::string& value, const char* help, const char* text) {
    command.add_option(name, value, help)->option_text(text)->group("Which records");
  };
  add("--run", filter.run, "of this run: its id, or how that begins", "ID");
  add("--key", filter.key, "of runs of the evaluation with this key", "HEX");
  add("--framework", filter.framework, "in this framework; * stands for anything here and below",
      "WORD");
  add("--metric", filter.metric, "of this metric", "WORD");
  add("--level", filter.level, "operator, network, training, evaluation, ...", "WORD");
  add("--device", filter.device, "on this device", "WORD");
  add("--status", filter.status, "passed, failed, mistrusted, skipped, unsupported", "WORD");
  add("--host", filter.hostname, "on this machine", "NAME");
  add("--artefact", filter.artefact, "of runs that used the file of this SHA-256", "HEX");
  add("--since", filter.since, "not before this moment, UTC: 2026-11-26 or with T and a time",
      "TIME");
  add("--until", filter.until, "not after it", "TIME");
}

}  // namespace d5::app
