// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/evaluation/database_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/report/report.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalShowExamples =
    R"(  d5 eval show 3f9ac2d1                      a run's records; the id may be cut short
  d5 eval show 3f9ac2d1 --format html > run.html
  d5 eval show 3f9ac2d1 --pieces             its pieces: records, queries, answers, traces
  d5 eval show 3f9ac2d1 --answers "lenet@1.0.0 torch accuracy"
                                             every sample's answer, and whether it was right
  d5 eval show 3f9ac2d1 --queries PIECE --format csv > queries.csv
  d5 eval show 3f9ac2d1 --manifest           the evaluation's canonical manifest, from which its key derives)";

struct EvalShowOptions : app::OutputOptions {
  std::string database, run, answers, queries;
  bool pieces = false, manifest = false;
};

TextTable pieces_table(const std::vector<StoredPiece>& pieces) {
  TextTable table({"piece", "kind", {"count", TextTable::Align::right}});
  for (const auto& [name, kind, count] : pieces) table.add({name, kind, std::to_string(count)});
  return table;
}

void print_answers(const EvaluationDatabase& database, const std::string& run,
                   const EvalShowOptions& options) {
  auto table =
      app::printed_table({{"sample", TextTable::Align::right}, "answer", "score"}, options.format);
  for_each_stored(
      [&](const PageAsked& asked) {
        return database.answers(run, options.answers, EvaluationDatabase::Answers::all, asked);
      },
      [&](const SampleAnswer& one) {
        table.add({std::to_string(one.sample), one.answer, fmt::format("{}", one.score)});
      });
  table.end();
}

void print_queries(const EvaluationDatabase& database, const std::string& run,
                   const EvalShowOptions& options) {
  auto table = app::printed_table({"id", "sample", "batch", "scheduled_ns", "issued_ns", "begun_ns",
                                   "first_ns", "answered_ns", "ended_ns", "tokens", "status"},
                                  options.format);
  for_each_stored(
      [&](const PageAsked& asked) { return database.queries(run, options.queries, asked); },
      [&](const QueryRecord& q) {
        table.add({std::to_string(q.id), std::to_string(q.sample), std::to_string(q.batch),
                   std::to_string(q.scheduled), std::to_string(q.issued), std::to_string(q.begun),
                   std::to_string(q.first), std::to_string(q.answered), std::to_string(q.ended),
                   std::to_string(q.tokens), std::string(name_of(q.status))});
      });
  table.end();
}

void check_usage(const EvalShowOptions& options) {
  const int asked = (options.pieces ? 1 : 0) + (options.manifest ? 1 : 0) +
                    (options.answers.empty() ? 0 : 1) + (options.queries.empty() ? 0 : 1);
  if (asked > 1) {
    throw ValueError("eval show: choose one of --pieces, --manifest, --answers, --queries");
  }
  if (asked == 1 && !options.pivot.empty()) {
    throw ValueError(
        "eval show: --pivot is for records; leave it out, or leave out --pieces, --manifest, "
        "--answers and --queries");
  }
}

/// Throws: NotFound for a piece without such rows; the message lists the pieces that have some.
void expect_piece(const EvaluationDatabase& database, const std::string& run,
                  const std::string& piece, const std::string& kind) {
  std::string others;
  for (const auto& one : database.pieces(run)) {
    if (one.kind != kind) continue;
    if (one.name == piece) return;
    others += fmt::format("{}'{}'", others.empty() ? "" : ", ", printable(one.name));
  }
  throw NotFound(fmt::format("run {} has no {} of '{}'; {}", run.substr(0, 8), kind,
                             printable(piece),
                             others.empty() ? "it has none" : "it has " + others));
}

int run_eval_show(const EvalShowOptions& options) {
  check_usage(options);
  const auto database = app::open_database(options.database);
  const std::string run = database->run_id(options.run);
  if (options.pieces) {
    app::print(pieces_table(database->pieces(run)), options.format);
  } else if (options.manifest) {
    fmt::print("{}\n", database->run(run).manifest);
  } else if (!options.answers.empty()) {
    expect_piece(*database, run, options.answers, "answers");
    print_answers(*database, run, options);
  } else if (!options.queries.empty()) {
    expect_piece(*database, run, options.queries, "queries");
    print_queries(*database, run, options);
  } else {
    const Results results = database->results(run);
    if (!options.quiet) app::say(fmt::format("run {} of {}", run, results.environment.time));
    app::print(results, options);
    return exit_status(results.measurements, options.if_unsupported);
  }
  return app::kPassed;
}

}  // namespace

void register_eval_show(app::Program& program) {
  auto options = std::make_shared<EvalShowOptions>();
  auto& command = program.add("eval show", "show a run's records, answers or queries",
                              kEvalShowExamples, [options] { return run_eval_show(*options); });
  command.add_option("RUN", options->run, "id ('d5 eval history'), or its beginning")->required();
  command.add_flag("--pieces", options->pieces, "list the pieces that the run wrote");
  command.add_flag("--manifest", options->manifest, "print the manifest of its evaluation");
  command.add_option("--answers", options->answers, "piece whose answers to print")
      ->option_text("PIECE");
  command.add_option("--queries", options->queries, "piece whose queries to print")
      ->option_text("PIECE");
  app::add_database_option(command, options->database);
  app::add_pivot_option(command, *options);
  app::add_format_options(command, *options, app::kRecordFormats);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
