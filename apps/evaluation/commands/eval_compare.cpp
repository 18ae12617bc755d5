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
                                         samples that only one has right, and McNemar's test
  d5 eval compare torch.json openvino.json --layers
                                         the layers that cause the difference, by share: of
                                         profiles (net bench --profile), or runs with traces

The runs were not measured interleaved: intervals are joined conservatively.)";

struct EvalCompareOptions : app::OutputOptions {
  std::string database, a, b;
  bool layers = false, answers = false;
  std::int64_t most = 15;
};

/// Finds the pieces with answers in both runs: by name, or the only one of each.
std::vector<NamedAnswerComparison> answer_differences(const EvalCompareOptions& options) {
  if (app::is_file(options.a) || app::is_file(options.b)) {
    throw ValueError(
        "eval compare --answers: a results file has no answers; give the ids of two runs of a "
        "database ('d5 eval history')");
  }
  const auto database = app::open_database(options.database);
  auto differences = compare_stored_answers(*database, options.a, options.b);
  if (differences.empty()) {
    throw ValueError("eval compare --answers: the runs kept no answers of the same name");
  }
  return differences;
}

/// Reads the traces of two runs of the database one at a time.
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
          "eval compare --layers: a run has no layers; 'd5 net bench MODEL --profile --out FILE' "
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
    throw ValueError("eval compare: the runs have no measurement in common");
  }
  app::print(to_table(pairs), options.format);
  return app::kPassed;
}

}  // namespace

void register_eval_compare(app::Program& program) {
  auto options = std::make_shared<EvalCompareOptions>();
  auto& command =
      program.add("eval compare", "compare two evaluations: numbers, answers or layers",
                  kEvalCompareExamples, [options] { return run_eval_compare(*options); });
  command.add_option("A", options->a, "results file, or id of a run ('d5 eval history')")
      ->required();
  command.add_option("B", options->b, "results file or run that is compared with A")->required();
  command.add_flag("--layers", options->layers, "compare layer by layer");
  command.add_flag("--answers", options->answers,
                   "compare sample by sample, with the answers that changed");
  command.add_option("--most", options->most, "maximum number of layers to show")->option_text("N");
  app::add_database_option(command, options->database);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
