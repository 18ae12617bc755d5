// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/measurement.hpp"

namespace CLI {
class App;
}

namespace d5::app {

enum class Format { table, json, csv, markdown };

/// Where results go. The same in every command.
struct OutputOptions {
  Format format = Format::table;
  std::string out;     ///< results file, JSON; empty: none
  bool quiet = false;  ///< no progress
};
void add_output_options(CLI::App& command, OutputOptions& options);

/// What a command runs with. The same in every command that runs something.
struct RunOptions {
  std::vector<std::string> frameworks = {"reference"};
  std::string device = "cpu";
  int threads = 0;  ///< 0: as many as the machine has cores
  std::uint64_t seed = 0;
  std::vector<std::string> metrics;  ///< besides the command's own
  std::vector<std::string> load;     ///< libraries of custom operators
  std::string trace;                 ///< file for a timeline of the run; empty: none
};
void add_run_options(CLI::App& command, RunOptions& options);
/// Sets threads, checks device and metrics, loads what was named. Throws: Error, typed.
void apply(const RunOptions& options);
/// The frameworks in one word of `--framework`, in order of preference for each node:
/// "torch+reference".
[[nodiscard]] std::vector<std::string> frameworks_in(const std::string& word);
/// The version of the first of them; empty for "auto", which chooses node by node.
[[nodiscard]] std::string version_of(const std::string& word);
/// " --framework torch --seed 3": the part of a line that runs a measurement again.
[[nodiscard]] std::string to_line(const RunOptions& options, const std::string& framework);

/// How a command measures.
void add_measure_options(CLI::App& command, MeasureOptions& options);

}  // namespace d5::app
