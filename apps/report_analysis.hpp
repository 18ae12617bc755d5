// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/core/report/plot.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// Lines for the help of `report`, each behind a line's end.
[[nodiscard]] std::string analysis_example();

/// `--analysis NAME`, where evaluation was built.
void add_analysis_option(CLI::App& command, std::string& analysis);

/// Prints what an analysis, in words, says of results files and traces: its table, or `plot` of its
/// plots where the format is drawn.
/// Throws: NotFound for an unknown one; ValueError where the files hold nothing for it.
void print_analysis(const std::string& analysis, const std::vector<std::string>& files,
                    Format format, const std::string& plot);

/// What each analysis draws of them; nothing without evaluation.
[[nodiscard]] std::vector<Plot> plots_of_analyses(const std::vector<std::string>& files);

}  // namespace d5::app
