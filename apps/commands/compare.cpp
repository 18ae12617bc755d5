// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/error.hpp"
#include "d5/core/result_comparison.hpp"
#include "d5/core/threads.hpp"
#include "d5/level0_ops/bench.hpp"
#include "d5/level1_network/network_bench.hpp"

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

Subject subject_of(const std::string& word, const std::string& framework, const Options& options) {
  const Device device = device_from_name(options.device);
  std::error_code ignored;
  const bool is_network = models().find(word) || std::filesystem::exists(word, ignored);
  if (is_network) {
    return network_subject(word, framework, {.batch = options.batch},
                           {.device = device, .seed = options.seed});
  }
  return operator_subject(parse_case(word, options.seed), framework, BenchOptions::Passes::forward,
                          device);
}

std::vector<Measurement> run_both(const Options& options) {
  if (options.frameworks.size() > 2) {
    throw ValueError("compare: give one framework for both subjects, or one for each");
  }
  pin_threads();
  const auto measuring = app::measuring_of(options.measuring, options);
  const auto metrics = app::metrics_of(options, {"time"});
  const auto& first = options.frameworks.front();
  const auto& second = options.frameworks.back();
  auto results = measure_side_by_side(
      {subject_of(options.a, first, options), subject_of(options.b, second, options)}, metrics,
      measuring);
  CommandLine line("compare");
  line.word(options.a).word(options.b).option("--batch", options.batch);
  if (options.fail_above > 0) line.option("--fail-above", options.fail_above);
  line.runs_in({first, second}, device_from_name(options.device));
  line.append(to_line(measuring, metrics)).append(app::to_line(options));
  for (auto& result : results) result.command = line.text();
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
  const auto pairs = compare_results(a, b);
  if (pairs.empty()) {
    throw ValueError(
        fmt::format("compare: no measurement is in both '{}' and '{}'; they must agree "
                    "in subject and metric, and where one holds several frameworks, ranks, "
                    "threads, batches or caches, in these",
                    printable(options.a), printable(options.b)));
  }
  auto differing = differences(a, b);
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
  if (app::is_drawn(options.format)) {
    app::print(app::picture_of({.title = fmt::format("{} and {}", options.a, options.b),
                                .sources = {{options.a, a}, {options.b, b}},
                                .pairs = pairs},
                               options.format, ""),
               options.format);
  } else {
    app::print(to_table(pairs), options.format);
  }
  const bool failed = options.fail_above > 0 && std::ranges::any_of(pairs, [&](const auto& pair) {
                        return pair.worse_by(options.fail_above);
                      });
  return failed ? app::kFailed : app::kPassed;
}

int compare_subjects(const Options& options) {
  app::check_output(options);
  auto results = run_both(options);
  for (auto& ratio : results) {
    if (options.fail_above > 0 && ratio.quantity == Quantity::ratio &&
        ratio.status == Status::passed && estimate(ratio).interval.low > options.fail_above) {
      ratio.status = Status::failed;
      ratio.reason = fmt::format("the ratio is surely above {}", options.fail_above);
    }
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
