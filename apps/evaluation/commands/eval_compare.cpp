// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "apps/evaluation/analysed_runs.hpp"
#include "apps/evaluation/database_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/result_comparison.hpp"
#include "d5/evaluation/accuracy/answer_comparison.hpp"
#include "d5/evaluation/analysis/evaluation_difference.hpp"
#include "d5/evaluation/analysis/stored_runs.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalCompareExamples =
    R"(  d5 eval compare 3f9ac2d1 77b0e512      two runs of the database: the numbers that both hold
  d5 eval compare torch.json openvino.json
  d5 eval compare 3f9ac2d1 77b0e512 --answers
                                         which samples one alone has right, and McNemar's test
  d5 eval compare torch.json openvino.json --layers
                                         the layers that made the difference, by their share of it:
                                         of profiles (net bench --profile), or runs with traces

The runs were not measured interleaved: intervals are joined conservatively.)";

struct EvalCompareOptions : app::OutputOptions {
  std::string database, a, b;
  bool layers = false, answers = false;
  std::int64_t most = 15;
};

/// Of the pieces with answers that both runs have: by name, or the only one of each.
std::vector<NamedAnswerComparison> answer_differences(const EvalCompareOptions& options) {
  if (app::is_file(options.a) || app::is_file(options.b)) {
    throw ValueError(
        "eval compare --answers: a results file has no answers; give the ids of two runs of a "
        "database");
  }
  const auto database = app::open_database(options.database);
  auto differences = compare_stored_answers(*database, options.a, options.b);
  if (differences.empty()) {
    throw ValueError("eval compare --answers: the runs kept no answers of the same name");
  }
  return differences;
}

/// Of two runs of the database the traces are read one at a time.
std::vector<LayerDifference> layers_that_differ(const EvalCompareOptions& options) {
  if (!app::is_file(options.a) && !app::is_file(options.b)) {
    return stored_layer_differences(*app::open_database(options.database), options.a, options.b);
  }
  const auto runs = app::analysed_runs({options.a, options.b}, options.database);
  return layer_differences(runs.at(0), runs.at(1));
}

int run_eval_compare(const EvalCompareOptions& options) {
  if (options.layers && options.answers) {
    throw ValueError("eval compare: choose one of --layers and --answers");
  }
  if (options.answers) {
    app::print(to_table(answer_differences(options)), options.format);
    return app::kPassed;
  }
  if (options.layers) {
    const auto differences = layers_that_differ(options);
    if (differences.empty()) {
      throw ValueError(
          "eval compare --layers: a run tells no layers; 'd5 net bench MODEL --profile --out FILE' "
          "and an evaluation with a trace of its nodes do");
    }
    app::print(to_table(differences, std::size_t(options.most)), options.format);
    return app::kPassed;
  }
  const auto runs =
      app::analysed_runs({options.a, options.b}, options.database, StoredTraces::without);
  for (const auto& [name, a, b] : differences(runs[0].results, runs[1].results)) {
    if (!options.quiet) app::say(fmt::format("A and B differ in {}: {} and {}", name, a, b));
  }
  const auto pairs = compare_results(runs[0].results, runs[1].results);
  if (pairs.empty()) {
    throw ValueError("eval compare: there is no measurement that both runs hold");
  }
  app::print(to_table(pairs), options.format);
  return app::kPassed;
}

}  // namespace

void register_eval_compare(app::Program& program) {
  auto options = std::make_shared<EvalCompareOptions>();
  auto& command =
      program.add("eval compare", "two evaluations: numbers, answers, the layers that differ",
                  kEvalCompareExamples, [options] { return run_eval_compare(*options); });
  command.add_option("A", options->a, "a results file, or the id of a run")->required();
  command.add_option("B", options->b, "what is held against it")->required();
  command.add_flag("--layers", options->layers, "which layers made the difference");
  command.add_flag("--answers", options->answers, "sample by sample, and which flipped");
  command.add_option("--most", options->most, "layers that are shown")->option_text("N");
  app::add_database_option(command, options->database);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
