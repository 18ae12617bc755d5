// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "apps/evaluation/database_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalQueryExamples =
    R"(  d5 eval query --metric latency --status passed --format csv > latencies.csv
  d5 eval query "resnet*" --framework torch --since 2026-11-01
  d5 eval query --sql "SELECT framework, COUNT(*) FROM measurement GROUP BY framework"
                                                the tables: docs/reference/file_formats.md, "Database"

Prints records of all runs, oldest first, with numbers in SI units and full precision. SQL may only
read.)";

struct EvalQueryOptions : app::OutputOptions {
  std::string database, sql;
  RecordFilter filter;
};

void print_records(const EvaluationDatabase& database, const EvalQueryOptions& options) {
  using enum TextTable::Align;
  auto table = app::printed_table({"time",
                                   "run",
                                   "subject",
                                   "level",
                                   "framework",
                                   "device",
                                   "conditions",
                                   "metric",
                                   "statistic",
                                   {"value", right},
                                   {"low", right},
                                   {"high", right},
                                   "unit",
                                   "status",
                                   "reason",
                                   "host"},
                                  options.format);
  const auto number = [](double value) {
    return std::isnan(value) ? std::string() : fmt::format("{}", value);
  };
  const auto add = [&](const StoredMeasurement& one) {
    const Measurement& m = one.record;
    std::string conditions;
    for (const auto& [name, condition] : m.conditions) {
      conditions += fmt::format("{}{} {}", conditions.empty() ? "" : ", ", name, condition.text());
    }
    table.add({one.time, one.run.substr(0, 8), m.subject, m.level, m.framework, m.device,
               conditions, m.metric, to_string(m.statistic), number(one.estimate.value),
               number(one.estimate.interval.low), number(one.estimate.interval.high), m.unit,
               std::string(name_of(m.status)), m.reason, one.hostname});
  };
  constexpr std::size_t kAtOnce = 2000;
  for_each_stored(
      [&](const PageAsked& asked) {
        return database.measurements(options.filter, EvaluationDatabase::Samples::without, asked);
      },
      add, kAtOnce);
  table.end();
}

void print_sql(const EvaluationDatabase& database, const EvalQueryOptions& options) {
  std::optional<TableWriter> table;
  database.sql(
      options.sql,
      [&](const std::vector<std::string>& titles) {
        table = app::printed_table({titles.begin(), titles.end()}, options.format);
      },
      [&](std::vector<std::string> row) { table->add(std::move(row)); });
  if (table) table->end();
}

int run_eval_query(const EvalQueryOptions& options) {
  if (!options.sql.empty() && !(options.filter == RecordFilter{})) {
    throw ValueError("eval query: --sql is the whole query; leave out the other conditions");
  }
  const auto database = app::open_database(options.database);
  if (options.sql.empty()) {
    print_records(*database, options);
  } else {
    print_sql(*database, options);
  }
  return app::kPassed;
}

}  // namespace

void register_eval_query(app::Program& program) {
  auto options = std::make_shared<EvalQueryOptions>();
  auto& command = program.add("eval query", "query the records of all runs, by conditions or SQL",
                              kEvalQueryExamples, [options] { return run_eval_query(*options); });
  command.add_option("SUBJECT", options->filter.subject,
                     "subject of the records; * matches any text, as in \"lenet@*\"");
  app::add_filter_options(command, options->filter);
  command.add_option("--sql", options->sql, "SQL statement that only reads")
      ->option_text("STATEMENT");
  app::add_database_option(command, options->database);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
