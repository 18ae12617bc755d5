// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/error.hpp"
#include "d5/core/gate.hpp"
#include "d5/core/report.hpp"
#include "d5/core/threads.hpp"
#include "d5/level0_ops/bench.hpp"
#include "d5/level1_network/network_bench.hpp"

namespace d5::command {
namespace {

constexpr const char* kCompareExamples =
    R"(  d5 compare old.json new.json                  every number that both files hold, new / old
  d5 compare old.json new.json --fail-above 1.05
                                                exit status 0 only where nothing is 5% worse for sure
  d5 compare old.json new.json --metrics batch_time --fail-above 1.05
                                                of two trainings, what was timed often enough to judge
  d5 compare "Gemm 64x64 64x64" "MatMul 64x64 64x64"
                                                two operators, run now, interleaved
  d5 compare lenet lenet --framework reference,torch --fail-above 1 --retry 2
                                                two networks; A in the first framework, B in the
                                                second; measured again if noise hides the answer

Two results files were not measured interleaved, so their intervals are joined conservatively. Only
running both now, interleaved, is proof against a machine that changes.)";

struct CompareOptions : app::OutputOptions, app::RunOptions {
  std::string a, b;
  double fail_above = 0;  ///< 0: no gate
  int retries = 0;
  std::int64_t batch = 1;
  MeasureOptions measuring;
};

bool is_results_file(const std::string& word) {
  return word.ends_with(".json") || word.ends_with(".JSON");
}

bool is_network(const std::string& word) {
  std::error_code ignored;
  return models().find(word) || std::filesystem::exists(word, ignored);
}

/// What is no operator may be a network's name, misspelt.
OperatorCase case_of(const std::string& word, std::uint64_t seed) {
  try {
    const auto cases = read_case_words({word}, seed);
    if (cases.size() == 1) return cases.front().draw();
    throw ValueError(fmt::format("'{}' is {} cases, expected one: 'd5 op bench' takes several",
                                 printable(word), cases.size()));
  } catch (const NotFound&) {
    if (nearest_names(word, models().names()).empty()) throw;
    throw_unknown_name("network", word, models().names());
  }
}

/// One that cannot run has records that say why.
Subject subject_of(const std::string& word, const std::string& framework,
                   const CompareOptions& options) {
  const Device device = device_from_name(options.device);
  Measurement record{.subject = word, .framework = framework, .device = to_string(device)};
  if (is_network(word)) {
    record.level = "network";
    return subject_or_refusal(record, [&] {
      return network_subject(word, framework, {.batch = options.batch},
                             {.device = device, .seed = options.seed});
    });
  }
  record.level = "operator";
  return subject_or_refusal(record, [&, one = case_of(word, options.seed)] {
    return operator_subject(one, framework, BenchOptions::Passes::forward, device);
  });
}

std::vector<Measurement> run_both(const CompareOptions& options, int samples) {
  auto measuring = app::measuring_of(options.measuring, options);
  measuring.samples = samples;
  const auto metrics = app::metrics_of(options, {"time"});
  const auto& first = options.frameworks.front();
  const auto& second = options.frameworks.back();
  auto results = measure_side_by_side(
      {subject_of(options.a, first, options), subject_of(options.b, second, options)}, metrics,
      measuring);
  CommandLine line("compare");
  line.word(options.a).word(options.b);
  if (is_network(options.a) || is_network(options.b)) line.option("--batch", options.batch);
  if (options.fail_above > 0) line.option("--fail-above", options.fail_above);
  if (options.retries > 0) line.option("--retry", options.retries);
  line.runs_in({first, second}, device_from_name(options.device));
  line.append(to_line(measuring, metrics)).append(app::to_line(options));
  for (auto& result : results) result.command = line.text();
  return results;
}

std::string or_none(const std::string& value) {
  return value.empty() ? "none said" : printable(value);
}

void note_missing(const Results& a, const Results& b) {
  const auto missing = missing_results(a, b);
  if (missing.empty()) return;
  const auto& [first, reason] = missing.front();
  app::say(fmt::format("note: {} of A's records {} not compared: {} {} {}: {}{}", missing.size(),
                       missing.size() == 1 ? "is" : "are", printable(first.subject),
                       printable(first.framework), printable(first.metric),
                       printable_message(reason), missing.size() == 1 ? "" : ", ..."));
}

/// What the gate did not find to hold, on stderr.
int report(const std::vector<GateFinding>& findings, double limit) {
  int status = app::kPassed;
  for (const auto& finding : findings) {
    if (finding.answer == GateFinding::Answer::held) continue;
    const bool broken = finding.answer == GateFinding::Answer::broken;
    app::say(fmt::format("--fail-above {}: {}: {}: {}", limit, broken ? "failed" : "cannot tell",
                         finding.subject, printable_message(finding.reason)));
    status = app::kFailed;
  }
  return status;
}

/// Leaves the metrics that were asked for. Throws: NotFound for one that neither has.
void choose_metrics(Results& a, Results& b, const std::vector<std::string>& metrics) {
  if (metrics.empty()) return;
  std::vector<std::string> known;
  for (const auto* results : {&a, &b}) {
    for (const auto& m : results->measurements) {
      if (std::ranges::find(known, m.metric) == known.end()) known.push_back(m.metric);
    }
  }
  for (const auto& name : metrics) {
    if (std::ranges::find(known, name) == known.end()) throw_unknown_name("metric", name, known);
  }
  for (auto* results : {&a, &b}) {
    std::erase_if(results->measurements, [&](const Measurement& m) {
      return std::ranges::find(metrics, m.metric) == metrics.end();
    });
  }
}

int compare_files(const CompareOptions& options) {
  Results a = read_results(options.a), b = read_results(options.b);
  choose_metrics(a, b, options.metrics);
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
    app::say(
        fmt::format("note: A and B differ in {}: {} and {}", what, or_none(in_a), or_none(in_b)));
  }
  if (!options.quiet) note_missing(a, b);
  if (is_drawn(options.format)) {
    app::print(to_text(Report{.title = fmt::format("{} and {}", options.a, options.b),
                              .sources = {{options.a, a}, {options.b, b}},
                              .pairs = pairs},
                       options.format),
               options.format);
  } else {
    app::print(to_table(pairs), options.format);
  }
  if (options.fail_above == 0) return app::kPassed;
  return report(judge(a, b, options.fail_above), options.fail_above);
}

int compare_subjects(const CompareOptions& options) {
  if (options.frameworks.size() > 2) {
    throw ValueError("compare: give one framework for both subjects, or one for each");
  }
  app::check_output(options);
  pin_threads();
  const int samples = options.measuring.samples;
  if (options.fail_above == 0) return app::publish(run_both(options, samples), options);
  const GateOptions gate{
      .limit = options.fail_above,
      .retries = options.retries,
      .interrupt = app::ctrl_c(),
      .before_retry = [&](const GateFinding& finding, int retry, int now) {
        app::say(fmt::format("note: cannot tell ({}); retry {} of {}, {} samples", finding.reason,
                             retry, options.retries, now));
      }};
  auto [records, finding] =
      measure_until_decided([&](int now) { return run_both(options, now); }, samples, gate);
  const int status = app::publish(std::move(records), options);
  return std::max(status, report({finding}, options.fail_above));
}

/// Results files were measured already: what measuring takes is refused beside them.
void refuse_options_of_subjects(const CLI::App& command) {
  for (const auto* option : command.get_options()) {
    const std::string name = option->get_name();
    const bool of_files = !name.starts_with("--") || name == "--fail-above" ||
                          name == "--metrics" || name == "--format" || name == "--quiet";
    if (option->count() == 0 || of_files) continue;
    throw ValueError(
        name == "--out"
            ? "compare: a comparison of files is derived, and no record of its own; to keep it, "
              "use --format json > FILE"
            : fmt::format("compare: {} is of subjects that run now, but A and B are results files",
                          name));
  }
}

/// What the command would ignore. Throws: ValueError.
void check_usage(const CLI::App& command, const CompareOptions& options) {
  if (options.retries > 0 && options.fail_above == 0) {
    throw ValueError("compare: --retry measures again where --fail-above cannot tell; give both");
  }
  const bool a_is_file = is_results_file(options.a), b_is_file = is_results_file(options.b);
  if (a_is_file != b_is_file) {
    throw ValueError(
        fmt::format("compare: '{}' is a results file and '{}' is none; give two results files, or "
                    "two subjects",
                    printable(a_is_file ? options.a : options.b),
                    printable(a_is_file ? options.b : options.a)));
  }
  if (a_is_file) return refuse_options_of_subjects(command);
  const bool batch_given = command.get_option("--batch")->count() > 0;
  if (batch_given && !is_network(options.a) && !is_network(options.b)) {
    throw ValueError("compare: --batch is of networks; the shapes of an operator say its own");
  }
}

int run_compare(const CompareOptions& options) {
  if (is_results_file(options.a)) return compare_files(options);
  app::apply(options);
  return compare_subjects(options);
}

}  // namespace

void register_compare(app::Program& program) {
  auto options = std::make_shared<CompareOptions>();
  auto& command = program.add("compare", "two results files, or two subjects run interleaved",
                              kCompareExamples, [options] { return run_compare(*options); });
  command.parse_complete_callback([options, &command] { check_usage(command, *options); });
  command.add_option("A", options->a, "results file, operator case, or network: the base")
      ->required();
  command.add_option("B", options->b, "what is compared with it")->required();
  command
      .add_option("--fail-above", options->fail_above,
                  "exit with 0 only if B is surely at most RATIO times as bad as A")
      ->transform(app::positive_number())
      ->option_text("RATIO");
  command
      .add_option("--retry", options->retries,
                  "measure subjects again, with twice the samples, where --fail-above cannot tell")
      ->transform(app::whole_number(0, 10))
      ->option_text("N");
  command.add_option("--batch", options->batch, "of networks")
      ->transform(app::whole_number(1))
      ->option_text("N");
  app::add_measure_options(command, options->measuring);
  app::add_run_options(command, *options);
  app::add_metrics_option(command, *options);
  command.get_option("--metrics")
      ->description("measure these too ('d5 list metrics'); of results files, compare these alone");
  app::add_output_options(command, *options);
  app::add_verdict_option(command, *options);
}

}  // namespace d5::command
