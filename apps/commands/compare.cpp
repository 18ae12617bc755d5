// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/comparison_records.hpp"
#include "apps/model_argument.hpp"
#include "apps/operator_subject.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/result_comparison.hpp"
#include "d5/core/error.hpp"
#include "d5/core/statistics.hpp"
#include "d5/core/threads.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 compare old.json new.json                  every time that both files hold, new / old
  d5 compare old.json new.json --fail-above 1.05
                                                exit status 1 where new is surely 5% slower
  d5 compare "Gemm 64x64 64x64" "MatMul 64x64 64x64"
                                                two operators, run now, interleaved
  d5 compare lenet lenet --framework reference,torch
                                                two networks; A in the first framework, B in the
                                                second

Two results files were not measured interleaved, so their intervals are joined conservatively. Only
running both now, interleaved, is proof against a machine that changes.)";

struct Options : app::OutputOptions, app::RunOptions {
  std::string a, b;
  double fail_above = 0;
  std::int64_t batch = 1;
  MeasureOptions measuring;
};

bool is_results_file(const std::string& word) {
  return word.ends_with(".json") || word.ends_with(".JSON");
}

struct Prepared {
  Subject subject;
  Measurement record;
  std::shared_ptr<void> owner;
};

Prepared prepare(const std::string& word, const std::string& framework_word,
                 const Options& options) {
  Prepared prepared;
  std::error_code ignored;
  const bool is_network = models().find(word) || std::filesystem::exists(word, ignored);
  if (!is_network) {
    const OperatorCase one = parse_case(word, options.seed);
    const auto subject =
        std::make_shared<app::OperatorSubject>(one, framework_word, Mode::inference);
    prepared.subject = subject->forward();
    prepared.record = subject->record();
    prepared.owner = subject;
    return prepared;
  }
  app::ModelArgument model;
  model.model = word;
  model.batch = options.batch;
  const std::shared_ptr<GraphExecutor> executor = app::open_executor(
      framework_word, app::open_network(model, {{"seed", options.seed}}), options.seed);
  const auto inputs =
      std::make_shared<ValueMap>(app::random_inputs(executor->network(), model, options.seed));
  prepared.subject = {.name = word, .run = [executor, inputs] { executor->inference(*inputs); }};
  prepared.record.subject = word;
  prepared.record.level = "network";
  prepared.record.framework = framework_word;
  prepared.owner = executor;
  return prepared;
}

std::vector<Measurement> run_both(const Options& options) {
  if (options.frameworks.size() > 2) {
    throw ValueError("compare: give one framework for both subjects, or one for each");
  }
  pin_threads();
  const Prepared a = prepare(options.a, options.frameworks.front(), options);
  const Prepared b = prepare(options.b, options.frameworks.back(), options);
  auto results = measure_interleaved({a.subject, b.subject}, options.measuring, options.seed);
  const auto complete = [&](Measurement& result, const Prepared& from) {
    app::describe(result, from.record);
    result.command = fmt::format(
        "d5 compare '{}' '{}'{}", options.a, options.b,
        app::to_line(options, fmt::format("{},{}", a.record.framework, b.record.framework)));
  };
  complete(results[0], a);
  complete(results[1], b);
  results.push_back(app::ratio_record(results[1], results[0]));
  return results;
}

std::string or_none(const std::string& value) {
  return value.empty() ? "none said" : printable(value);
}

int compare_files(const Options& options) {
  if (!options.out.empty()) {
    throw ValueError(
        "compare: a comparison of files is derived, and no record of its own; to keep it, use "
        "--format json > FILE");
  }
  const Results a = read_results(options.a), b = read_results(options.b);
  const auto pairs = app::compare_results(a, b);
  if (pairs.empty()) {
    throw ValueError(
        fmt::format("compare: no measurement is in both '{}' and '{}'; they must agree "
                    "in subject and metric, and where one holds several frameworks, ranks, "
                    "threads, batches or caches, in these",
                    printable(options.a), printable(options.b)));
  }
  auto differing = app::differences(a, b);
  const auto add = [&](const char* what, const std::string& in_a, const std::string& in_b) {
    if (in_a != in_b) differing.push_back({what, in_a, in_b});
  };
  add("machine", a.environment.hostname, b.environment.hostname);
  add("processor", a.environment.cpu, b.environment.cpu);
  add("compiler", a.environment.compiler, b.environment.compiler);
  for (const auto& [what, in_a, in_b] : differing) {
    if (options.quiet) break;
    fmt::print(stderr, "d5: note: A and B differ in {}: {} and {}\n", what, or_none(in_a),
               or_none(in_b));
  }
  fmt::print("{}", to_table(pairs).to_text(options.format));
  const bool failed = options.fail_above > 0 && std::ranges::any_of(pairs, [&](const auto& pair) {
                        return pair.worse_by(options.fail_above);
                      });
  return failed ? app::kFailed : app::kPassed;
}

int compare_subjects(const Options& options) {
  auto results = run_both(options);
  Measurement& ratio = results.back();
  if (options.fail_above > 0 && ratio.status == Status::passed &&
      summarise(ratio.samples).median_interval.low > options.fail_above) {
    ratio.status = Status::failed;
    ratio.reason = fmt::format("the ratio is surely above {}", options.fail_above);
  }
  return app::publish(std::move(results), options);
}

int run(const Options& options) {
  app::apply(options);
  const bool files = is_results_file(options.a) && is_results_file(options.b);
  return files ? compare_files(options) : compare_subjects(options);
}

}  // namespace

void register_compare(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("compare", "two results files, or two subjects run interleaved",
                              kExamples, [options] { return run(*options); });
  command.add_option("A", options->a, "results file, operator case, or network: the base")
      ->required();
  command.add_option("B", options->b, "what is compared with it")->required();
  command
      .add_option("--fail-above", options->fail_above,
                  "exit with 1 if a time ratio B / A is surely above this")
      ->check(CLI::PositiveNumber)
      ->option_text("RATIO");
  command.add_option("--batch", options->batch, "of networks")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  app::add_measure_options(command, options->measuring);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
