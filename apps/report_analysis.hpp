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

/// Example lines for the help of `report`, each after a line break.
[[nodiscard]] std::string analysis_example();

/// Adds `--analysis NAME`, if evaluation was built.
void add_analysis_option(CLI::App& command, std::string& analysis);

/// Prints an analysis of results files and traces: its table, or its plot `plot` in a drawn format.
/// Throws: NotFound for an unknown analysis; ValueError if the files hold nothing for it.
void print_analysis(const std::string& analysis, const std::vector<std::string>& files,
                    Format format, const std::string& plot);

/// The plots of every analysis of `results`; empty without evaluation.
[[nodiscard]] std::vector<Plot> plots_of_analyses(const std::vector<std::string>& files);

}  // namespace d5::app
