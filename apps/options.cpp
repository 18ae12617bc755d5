// SPDX-License-Identifier: Apache-2.0
#include "apps/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "apps/ctrl_c.hpp"
#include "apps/declared_options.hpp"
#include "apps/kept_results.hpp"
#include "apps/loadable_frameworks.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/screen/progress.hpp"
#include "d5/core/tensor/device.hpp"
#include "d5/level0_ops/operator/extension.hpp"
#include "d5/level1_network/graph/executor_word.hpp"

namespace d5::app {
namespace {

/// Turns `Unsupported` into NotFound: a name on the command line that does not exist is bad usage,
/// not a finding of the run.
template <class F>
auto named_rightly(const F& find) {
  try {
    return find();
  } catch (const Unsupported& error) {
    throw NotFound(error.what());
  }
}

/// Throws: ValueError if `count` exceeds the threads that this process may use, with which it
/// starts.
void use_threads(int count) {
  const int most = threads();
  if (count > most) {
    throw ValueError(fmt::format(
        "--threads {}: this process may use {} core{}, and more threads would only wait; give at "
        "most {} (mpirun may have bound a rank: --bind-to none)",
        count, most, most == 1 ? "" : "s", most));
  }
  set_threads(count);
}

}  // namespace

void add_quiet_option(CLI::App& command, OutputOptions& options) {
  command
      .add_flag_callback(
          "--quiet",
          [&options] {
            options.quiet = true;
            Progress::set_quiet(true);
          },
          "hide progress on stderr")
      ->group("Common options");
}

void add_format_options(CLI::App& command, OutputOptions& options, const char* formats) {
  const std::map<std::string, Format> all{
      {"table", Format::table}, {"json", Format::json},         {"jsonl", Format::jsonl},
      {"csv", Format::csv},     {"markdown", Format::markdown}, {"gbench", Format::gbench},
      {"html", Format::html},   {"svg", Format::svg},           {"png", Format::png}};
  std::map<std::string, Format> accepted;
  std::istringstream words(formats);
  for (std::string word; std::getline(words, word, '|');) accepted.emplace(word, all.at(word));
  command.add_option("--format", options.format, "format of the results")
      ->transform(one_of(accepted))
      ->option_text(formats)
      ->group("Common options");
  add_quiet_option(command, options);
}

void add_pivot_option(CLI::App& command, OutputOptions& options) {
  command
      .add_option("--pivot", options.pivot,
                  "table of cases by a column: framework, device, or a condition such as threads; "
                  "with ratios and their geometric means")
      ->option_text("COLUMN")
      ->group("Common options");
}

void add_output_options(CLI::App& command, OutputOptions& options, const char* formats) {
  add_format_options(command, options, formats);
  command.add_option("--out", options.out, "file to write the results to as well, as JSON")
      ->option_text("FILE.json")
      ->group("Common options");
  add_keeping_option(command, options);
}

void add_unsupported_option(CLI::App& command, OutputOptions& options) {
  command
      .add_flag_callback(
          "--allow-unsupported", [&options] { options.if_unsupported = IfUnsupported::allow; },
          "let unsupported cases leave the exit status at 0; the default of --framework all")
      ->group("Common options");
  if (auto* framework = command.get_option_no_throw("--framework")) {
    framework->each(
        [&options](const std::string& word) {  // asking all expects that some do not support it
          if (word == "all") options.if_unsupported = IfUnsupported::allow;
        });
  }
}

void add_load_option(CLI::App& command, std::vector<std::string>& libraries) {
  command
      .add_option("--load", libraries,
                  "plug-in, custom operators (a library or its source), or a Python file that adds "
                  "parts; its code will run; may be repeated")
      ->allow_extra_args(false)
      ->option_text("FILE")
      ->group("Common options");
}

void check_framework_name(const std::string& word) {
  if (word == "auto") return;
  try {
    (void)framework(word);
  } catch (const Unsupported&) {  // reported later, as one that cannot be loaded
  }
}

void add_framework_options(CLI::App& command, RunOptions& options) {
  command
      .add_option("--framework", options.frameworks,
                  "frameworks, or paths to plug-ins; several are compared, interleaved")
      ->each([&options](const std::string&) { options.frameworks_given = true; })
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...")
      ->group("Common options");
  add_load_option(command, options.load);
}

void add_threads_option(CLI::App& command, RunOptions& options) {
  command
      .add_option("--threads", options.threads, "number of compute threads (all cores if left out)")
      ->transform(whole_number(1))
      ->option_text("N")
      ->group("Common options");
}

void add_process_options(CLI::App& command, RunOptions& options) {
  add_threads_option(command, options);
  command.add_option("--seed", options.seed, "seed of all random numbers")
      ->transform(natural_number())
      ->each([&options](const std::string&) { options.seed_given = true; })
      ->option_text("N")
      ->group("Common options");
  // `Program` starts the trace before the command runs, and writes it afterwards.
  command
      .add_option(kTraceOption, options.trace, "write a timeline of the run, for ui.perfetto.dev")
      ->option_text("FILE.json")
      ->group("Common options");
}

void add_run_options(CLI::App& command, RunOptions& options) {
  add_framework_options(command, options);
  command
      .add_option("--device", options.device,
                  "device for operators with a kernel there ('d5 list devices')")
      ->option_text("cpu|cuda:N|...")
      ->group("Common options");
  add_process_options(command, options);
}

void add_metrics_option(CLI::App& command, RunOptions& options) {
  command
      .add_option("--metrics", options.metrics,
                  "further metrics to measure ('d5 list metrics'), each as NAME[:KEY=VALUE]...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...")
      ->group("Common options");
}

void load(const std::vector<std::string>& libraries) {
  for (const auto& library : libraries) {
    const std::string what = named_rightly([&] { return load_extension(library); });
    say(fmt::format("note: {} loaded from {}", printable_message(what), printable(library)));
  }
}

void apply(const RunOptions& options) {
  RunOptions as_they_are = options;
  apply(as_they_are, [](const std::vector<std::string>& words) { return words; });
}

void apply(RunOptions& options,
           std::vector<std::string> (*words)(const std::vector<std::string>&)) {
  load(options.load);
  const auto given = std::exchange(options.frameworks, words(options.frameworks));
  if (options.frameworks != given) say_what_cannot_be_loaded();
  for (const auto& word : options.frameworks) {
    for (const auto& name : ExecutorWord(word).frameworks()) check_framework_name(name);
  }
  (void)named_rightly([&] { return device_from_name(options.device); });
  if (options.threads > 0) use_threads(options.threads);
}

void expect_frameworks_of_operators(const RunOptions& options) {
  for (const auto& word : options.frameworks) {
    if (word.find('/') != std::string::npos) continue;  // a path
    const ExecutorWord runs = word;
    if (word != "auto" && !runs.is_own() && runs.frameworks().size() == 1) continue;
    throw ValueError(
        fmt::format("--framework {}: a mix of frameworks, or an executor, runs networks; an "
                    "operator runs in one framework, and several are compared as A,B",
                    printable(word)));
  }
}

std::string to_line(const RunOptions& options) {
  CommandLine line;
  for (const auto& library : options.load) line.option("--load", library);
  return line.text();
}

std::vector<MetricChoice> metrics_of(const RunOptions& options, std::vector<MetricChoice> usual) {
  for (const auto& text : options.metrics) {
    MetricChoice choice(text);
    (void)choice.make();  // an unknown name or setting is bad usage, not a finding of a run
    const auto same =
        std::ranges::find_if(usual, [&](const auto& one) { return one.name() == choice.name(); });
    if (same == usual.end()) {
      usual.push_back(std::move(choice));
    } else {
      *same = std::move(choice);  // with the settings that the user gave
    }
  }
  return usual;
}

void add_isolate_option(CLI::App& command, Isolation& isolation) {
  command
      .add_option("--isolate", isolation.most_seconds,
                  "run each case in a process of its own, with this time limit; a crash or a hang "
                  "is a failed row")
      ->transform(positive_number())
      ->option_text("S")
      ->group("Common options");
}

Isolation isolation_of(const Isolation& isolation, const RunOptions& run) {
  Isolation result = isolation;
  result.interrupt = ctrl_c();
  if (result.most_seconds <= 0) return result;
  if (run.device != "cpu") {
    throw ValueError(
        fmt::format("--isolate works on the host, and a process of its own cannot share --device "
                    "{}; leave one of them out",
                    printable(run.device)));
  }
  return result;
}

std::string to_line(const Isolation& isolation) {
  if (isolation.most_seconds <= 0) return {};
  return CommandLine().option("--isolate", isolation.most_seconds).text();
}

void add_tolerance_options(CLI::App& command, ToleranceOptions& options, const std::string& usual) {
  command
      .add_option("--rtol", options.rtol,
                  "tolerance: an element passes within ATOL + RTOL x |expected|, instead of " +
                      usual + "; if only one is given, the other is 0")
      ->transform(number_from_zero())
      ->option_text("RTOL");
  command.add_option("--atol", options.atol, "absolute tolerance; see --rtol")
      ->transform(number_from_zero())
      ->option_text("ATOL");
}

std::optional<ForwardTolerance> tolerance_of(const ToleranceOptions& options) {
  if (!options.rtol && !options.atol) return std::nullopt;
  return ForwardTolerance{.relative = options.rtol.value_or(0),
                          .absolute = options.atol.value_or(0)};
}

std::string to_line(const ToleranceOptions& options) {
  CommandLine line;
  if (options.rtol) line.option("--rtol", *options.rtol);
  if (options.atol) line.option("--atol", *options.atol);
  return line.text();
}

void add_measure_options(CLI::App& command, MeasureOptions& options) {
  add_declared_options(command, options, "Measuring");
}

MeasureOptions measuring_of(const MeasureOptions& measuring, const RunOptions& run) {
  MeasureOptions result = measuring;
  result.seed = run.seed;
  result.interrupt = ctrl_c();
  return result;
}

}  // namespace d5::app
