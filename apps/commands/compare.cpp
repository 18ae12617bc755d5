// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "apps/kept_results.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/report/compared_files.hpp"
#include "d5/level1_network/profile/subject_comparison.hpp"
#include "d5/level1_network/source/model_source.hpp"

namespace d5::command {
namespace {

constexpr const char* kCompareExamples =
    R"(  d5 compare old.json new.json                  every number in both files, as new / old
  d5 compare old.json new.json --fail-above 1.05
                                                exit status 0 only if every number is certainly less
                                                than 5% worse; 1 if one is certainly worse; 3 if
                                                noise hides the answer
  d5 compare old.json new.json --only batch_time --fail-above 1.05
                                                judge a metric that has enough samples
  d5 compare "Gemm 64x64 64x64" "MatMul 64x64 64x64"
                                                two operators, run now, interleaved
  d5 compare lenet lenet --framework reference,torch --fail-above 1 --retry 2
                                                two networks, A in the first framework and B in the
                                                second; measured again if noise hides the answer

Two results files were not measured interleaved, so their intervals are joined conservatively. Only
running both now, interleaved, rules out that the machine changed.)";

struct CompareOptions : app::OutputOptions, app::RunOptions {
  std::string a, b;
  double fail_above = 0;  ///< 0: no gate
  int retries = 0;
  std::int64_t batch = 1;
  MeasureOptions measuring;
  std::vector<std::string> only;  ///< metrics of results files
};

bool is_results_file(const std::string& word) {
  return word.ends_with(".json") || word.ends_with(".JSON");
}

/// Joins two exit statuses: a failure wins over one that cannot tell.
int joined(int status, int other) {
  if (status == app::kFailed || other == app::kFailed) return app::kFailed;
  return std::max(status, other);
}

/// Prints on stderr the comparisons that did not pass the gate.
int report(const std::vector<GateFinding>& findings, double limit) {
  const auto [lines, notes] = text_of(findings);
  for (const auto& line : lines) app::say_wrapped(fmt::format("--fail-above {}: {}", limit, line));
  for (const auto& note : notes) app::say_wrapped(note);
  int status = app::kPassed;
  for (const auto& finding : findings) {
    if (finding.answer == GateFinding::Answer::held) continue;
    const bool broken = finding.answer == GateFinding::Answer::broken;
    status = joined(status, broken ? app::kFailed : app::kUndecided);
  }
  return status;
}

int show_files(const CompareOptions& options) {
  const ComparedFiles both = compare_files(
      options.a, options.b, {.metrics = options.only, .fail_above = options.fail_above});
  if (!options.quiet) {
    for (const auto& note : notes_of(both)) app::say("note: " + note);
  }
  app::print(to_text(both, options.format, screen_of(STDOUT_FILENO).width), options.format);
  return report(both.findings, options.fail_above);
}

int run_subjects(const CompareOptions& options) {
  app::check_output(options);
  pin_threads();
  auto [records, finding] = compare_subjects(
      options.a, options.b,
      {.frameworks = options.frameworks,
       .batch = options.batch,
       .device = device_from_name(options.device),
       .metrics = app::metrics_of(options, {"time"}),
       .measuring = app::measuring_of(options.measuring, options),
       .fail_above = options.fail_above,
       .retries = options.retries,
       .before_retry =
           [&](const GateFinding& found, int retry, int now) {
             app::say(fmt::format("note: cannot tell ({}); retry {} of {}, {} samples",
                                  found.reason, retry, options.retries, now));
           },
       .command_options = app::to_line(options)});
  const int status = app::publish(std::move(records), options);
  return joined(status, report({finding}, options.fail_above));
}

/// Refuses options that affect a measurement: results files are measured already.
void refuse_options_of_subjects(const CLI::App& command) {
  for (const auto* option : command.get_options()) {
    const std::string name = option->get_name();
    const bool of_files = !name.starts_with("--") || name == "--fail-above" || name == "--only" ||
                          name == "--format" || name == "--quiet";
    if (option->count() == 0 || of_files) continue;
    throw ValueError(
        name == "--out" ? "compare: a comparison of files is no record of its own; to keep it, use "
                          "--format json > FILE"
        : name == "--metrics"
            ? "compare: --metrics measures more of subjects that run now; use --only to choose "
              "metrics of results files"
            : fmt::format("compare: {} is for subjects that run now, but A and B are results files",
                          name));
  }
}

/// Throws: ValueError for an option that the command would ignore.
void check_usage(const CLI::App& command, const CompareOptions& options) {
  for (const std::string& word : {options.a, options.b}) app::expect_no_database(word);
  if (options.retries > 0 && options.fail_above == 0) {
    throw ValueError("compare: --retry measures again if --fail-above cannot tell; give both");
  }
  const bool a_is_file = is_results_file(options.a), b_is_file = is_results_file(options.b);
  if (a_is_file != b_is_file) {
    throw ValueError(fmt::format(
        "compare: '{}' is a results file and '{}' is not; give two results files, or two subjects",
        printable(a_is_file ? options.a : options.b),
        printable(a_is_file ? options.b : options.a)));
  }
  if (a_is_file) return refuse_options_of_subjects(command);
  if (!options.only.empty()) {
    throw ValueError(
        "compare: --only chooses metrics of results files; use --metrics to measure more of "
        "subjects");
  }
  const bool batch_given = command.get_option("--batch")->count() > 0;
  if (batch_given && !is_network(options.a) && !is_network(options.b)) {
    throw ValueError("compare: --batch is for networks; an operator's shapes include its batch");
  }
}

int run_compare(const CompareOptions& options) {
  if (is_results_file(options.a)) return show_files(options);
  app::apply(options);
  return run_subjects(options);
}

}  // namespace

void register_compare(app::Program& program) {
  auto options = std::make_shared<CompareOptions>();
  auto& command =
      program.add("compare", "compare two results files, or two subjects, run interleaved",
                  kCompareExamples, [options] { return run_compare(*options); });
  command.parse_complete_callback([options, &command] { check_usage(command, *options); });
  command.add_option("A", options->a, "base: a results file, an operator case, or a network")
      ->required();
  command.add_option("B", options->b, "subject that is compared with A")->required();
  command
      .add_option(
          "--fail-above", options->fail_above,
          "gate: exit with 0 only if B is certainly at most RATIO times as bad as A, with 1 if it "
          "is certainly worse, with 3 if noise or a mistrusted record hides the answer")
      ->transform(app::positive_number())
      ->option_text("RATIO");
  command
      .add_option(
          "--retry", options->retries,
          "times to measure subjects again, with twice the samples, if --fail-above cannot tell")
      ->transform(app::whole_number(0, 10))
      ->option_text("N");
  command.add_option("--batch", options->batch, "batch size of networks")
      ->transform(app::whole_number(1))
      ->option_text("N");
  app::add_measure_options(command, options->measuring);
  app::add_run_options(command, *options);
  app::add_metrics_option(command, *options);
  command.add_option("--only", options->only, "metrics of results files to compare")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...");
  app::add_output_options(command, *options, app::kPlotFormats);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
