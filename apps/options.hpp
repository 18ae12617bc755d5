// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/measuring/isolation.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// Where results go. The same in every command.
struct OutputOptions {
  Format format = Format::table;
  std::string out;     ///< results file, JSON; empty: none
  std::string pivot;   ///< what becomes columns; empty: one row a record
  bool quiet = false;  ///< no progress
  IfUnsupported if_unsupported = IfUnsupported::fail;
};
/// `--quiet`
void add_quiet_option(CLI::App& command, OutputOptions& options);
/// `--format` of lists and results, `--quiet`: of a command that prints lists.
void add_format_options(CLI::App& command, OutputOptions& options);
/// Of one that makes records, too: `--out`, `--database`.
void add_output_options(CLI::App& command, OutputOptions& options);
/// For commands that print records of several cases.
void add_pivot_option(CLI::App& command, OutputOptions& options);
/// Of one whose exit status judges records.
void add_verdict_option(CLI::App& command, OutputOptions& options);

/// What a command runs with. The same in every command that runs something; each takes the
/// functions below whose options it heeds.
struct RunOptions {
  std::vector<std::string> frameworks = {"reference"};
  std::string device = "cpu";
  int threads = 0;  ///< 0: as many as the machine has cores
  std::uint64_t seed = 0;
  bool frameworks_given = false, seed_given = false;  ///< on the command line
  std::vector<std::string> metrics;                   ///< besides the command's own
  std::vector<std::string> load;  ///< plug-ins, and libraries or sources of custom operators
  std::string trace;              ///< file for a timeline of the run; empty: none
};
void add_load_option(CLI::App& command, std::vector<std::string>& libraries);
/// Loads them, as `load_extension` does.
void load(const std::vector<std::string>& libraries);

/// A name that no framework has is a misprint; one that cannot be loaded is a finding of the run.
/// Throws: NotFound.
void check_framework_name(const std::string& word);
/// `--framework`, `--load`
void add_framework_options(CLI::App& command, RunOptions& options);

/// The option of every command that runs something.
inline constexpr const char* kTraceOption = "--trace";
/// `--threads`, `--seed`, `--trace`
void add_process_options(CLI::App& command, RunOptions& options);
/// All of these, and `--device`
void add_run_options(CLI::App& command, RunOptions& options);
void add_metrics_option(CLI::App& command, RunOptions& options);
/// An operator runs in one framework: neither mixes nor executors of networks. Throws: ValueError.
void expect_frameworks_of_operators(const RunOptions& options);
/// Sets threads, checks device and metrics, loads what was named. Throws: Error, typed.
void apply(const RunOptions& options);
/// The same where several frameworks stand side by side: "all" becomes what `words` makes of it
/// (`framework_words`, `executor_words`); what cannot be loaded is reported on stderr.
void apply(RunOptions& options, std::vector<std::string> (*words)(const std::vector<std::string>&));
/// " --load mine.so": what a library call cannot know, at the end of a record's command.
[[nodiscard]] std::string to_line(const RunOptions& options);
/// `usual`, and those that `--metrics` names besides. Throws: NotFound, ValueError.
[[nodiscard]] std::vector<MetricChoice> metrics_of(const RunOptions& options,
                                                   std::vector<MetricChoice> usual);

inline constexpr const char* kNormsHelp =
    "of the error also its norms, its place, and its distance in units in the last place";

/// `--isolate`: each case in a process of its own. Throws: ValueError with a device, which a forked
/// process has none of.
void add_isolate_option(CLI::App& command, Isolation& isolation);
[[nodiscard]] Isolation isolation_of(const Isolation& isolation, const RunOptions& run);
/// " --isolate 10", or nothing
[[nodiscard]] std::string to_line(const Isolation& isolation);

struct ToleranceOptions {
  std::optional<double> rtol, atol;
};
/// `usual` says what judges without them.
void add_tolerance_options(CLI::App& command, ToleranceOptions& options, const std::string& usual);
/// Nothing if neither was given; one that was left out is 0.
[[nodiscard]] std::optional<ForwardTolerance> tolerance_of(const ToleranceOptions& options);
[[nodiscard]] std::string to_line(const ToleranceOptions& options);

/// How a command measures.
void add_measure_options(CLI::App& command, MeasureOptions& options);
/// `measuring` with the seed of `run`, ended by Ctrl-C.
[[nodiscard]] MeasureOptions measuring_of(const MeasureOptions& measuring, const RunOptions& run);

}  // namespace d5::app
