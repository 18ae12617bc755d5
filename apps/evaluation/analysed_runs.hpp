// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/analysis/analysis.hpp"
#include "d5/evaluation/analysis/stored_runs.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// The runs to analyse: files, or ids of runs in a database.
void add_runs_argument(CLI::App& command, std::vector<std::string>& words);
/// Whether a word names a file.
[[nodiscard]] bool is_file(const std::string& word);
/// Reads the runs in their order. A trace belongs to the results file before it; a run of the
/// database has its own.
[[nodiscard]] std::vector<AnalysedRun> analysed_runs(const std::vector<std::string>& words,
                                                     const std::string& database,
                                                     StoredTraces traces = StoredTraces::with);

}  // namespace d5::app
