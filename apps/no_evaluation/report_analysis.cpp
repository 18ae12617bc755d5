// SPDX-License-Identifier: Apache-2.0
#include "apps/report_analysis.hpp"

#include "d5/core/errors/error.hpp"

namespace d5::app {

std::string analysis_example() { return ""; }

void add_analysis_option(CLI::App& /*command*/, std::string& /*analysis*/) {}

void print_analysis(const std::string& /*analysis*/, const std::vector<std::string>& /*files*/,
                    Format /*format*/, const std::string& /*plot*/) {
  throw Unsupported("this d5 was built without evaluation");
}

std::vector<Plot> plots_of_analyses(const std::vector<std::string>& /*files*/) { return {}; }

}  // namespace d5::app
