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

/// Output options. The same in every command.
struct OutputOptions {
  Format format = Format::table;
  std::string out;     ///< results file, JSON; empty: do not write one
  std::string pivot;   ///< column whose values become table columns; empty: one row a record
  bool quiet = false;  ///< hide progress
  IfUnsupported if_unsupported = IfUnsupported::fail;
};
/// `--quiet`
void add_quiet_option(CLI::App& command, OutputOptions& options);
/// What `--format` takes of a command that prints tables, tables and plots, or records.
inline constexpr const char* kTableFormats = "table|json|jsonl|csv|markdown";
inline constexpr const char* kPlotFormats = "table|json|jsonl|csv|markdown|html|svg|png";
inline constexpr const char* kRecordFormats = "table|json|jsonl|csv|markdown|gbench|html|svg|png";
/// `--format`, `--quiet`: for a command that prints lists.
void add_format_options(CLI::App& command, OutputOptions& options,
                        const char* formats = kTableFormats);
/// These, `--out` and `--database`: for a command that makes records.
void add_output_options(CLI::App& command, OutputOptions& options,
                        const char* formats = kRecordFormats);
/// For a command that prints records of several cases.
void add_pivot_option(CLI::App& command, OutputOptions& options);
/// For a command whose exit status judges records.
void add_unsupported_option(CLI::App& command, OutputOptions& options);

/// Execution options. The same in every command that runs something; each adds the options that it
/// uses, by the functions below.
struct RunOptions {
  std::vector<std::string> frameworks = {"reference"};
  std::string device = "cpu";
  int threads = 0;  ///< 0: as many as the machine has cores
  std::uint64_t seed = 0;
  bool frameworks_given = false, seed_given = false;  ///< whether the command line gives them
  std::vector<std::string> metrics;                   ///< further metrics besides the command's own
  std::vector<std::string> load;  ///< plug-ins, and libraries or sources of custom operators
  std::string trace;              ///< file for a timeline of the run; empty: do not write one
};
void add_load_option(CLI::App& command, std::vector<std::string>& libraries);
/// Loads plug-ins and custom operators, as `load_extension` does.
void load(const std::vector<std::string>& libraries);

/// Refuses a name that no framework has. A framework that cannot be loaded passes: it is a finding
/// of the run. Throws: NotFound.
void check_framework_name(const std::string& word);
/// `--framework`, `--load`
void add_framework_options(CLI::App& command, RunOptions& options);

/// The option of every command that runs something.
inline constexpr const char* kTraceOption = "--trace";
void add_threads_option(CLI::App& command, RunOptions& options);
/// `--threads`, `--seed`, `--trace`
void add_process_options(CLI::App& command, RunOptions& options);
/// All of these, and `--device`
void add_run_options(CLI::App& command, RunOptions& options);
void add_metrics_option(CLI::App& command, RunOptions& options);
/// Refuses mixes of frameworks and executors of networks: an operator runs in one framework.
/// Throws: ValueError.
void expect_frameworks_of_operators(const RunOptions& options);
/// Sets threads, checks device and metrics, loads plug-ins. Throws: Error, typed.
void apply(const RunOptions& options);
/// The same for several frameworks side by side: `words` (`framework_words`, `executor_words`)
/// expands "all". Reports on stderr what cannot be loaded.
void apply(RunOptions& options, std::vector<std::string> (*words)(const std::vector<std::string>&));
/// " --load mine.so": the part of a record's command that the library cannot know.
[[nodiscard]] std::string to_line(const RunOptions& options);
/// `usual`, and the metrics that `--metrics` adds. Throws: NotFound, ValueError.
[[nodiscard]] std::vector<MetricChoice> metrics_of(const RunOptions& options,
                                                   std::vector<MetricChoice> usual);

inline constexpr const char* kNormsHelp =
    "report the error's norms, its place, and its distance in units in the last place, too";

/// `--isolate`: each case in a process of its own. Throws: ValueError with a device, which a forked
/// process cannot use.
void add_isolate_option(CLI::App& command, Isolation& isolation);
[[nodiscard]] Isolation isolation_of(const Isolation& isolation, const RunOptions& run);
/// " --isolate 10", or nothing
[[nodiscard]] std::string to_line(const Isolation& isolation);

struct ToleranceOptions {
  std::optional<double> rtol, atol;
};
/// Adds `--rtol` and `--atol`. `usual` names the bound without them, for the help.
void add_tolerance_options(CLI::App& command, ToleranceOptions& options, const std::string& usual);
/// Returns nullopt if neither was given. If only one was given, the other is 0.
[[nodiscard]] std::optional<ForwardTolerance> tolerance_of(const ToleranceOptions& options);
[[nodiscard]] std::string to_line(const ToleranceOptions& options);

/// Measurement options of a command.
void add_measure_options(CLI::App& command, MeasureOptions& options);
/// `measuring` with the seed of `run`, ended by Ctrl-C.
[[nodiscard]] MeasureOptions measuring_of(const MeasureOptions& measuring, const RunOptions& run);

}  // namespace d5::app
