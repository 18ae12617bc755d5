// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/report.hpp"

namespace d5::detail {

[[nodiscard]] std::vector<Measurement> measurements_of(const std::vector<Report::Source>& sources);

/// All records as an HTML table, a row each; what they have in common is said once above it.
[[nodiscard]] std::string results_table(const std::vector<Report::Source>& sources);

/// What several cases say together (`summaries_of`), file by file. Empty where there is nothing.
[[nodiscard]] std::string summary_table(const std::vector<Report::Source>& sources);

/// Why records did not pass, as an HTML list: each reason once, with whom it concerns. Empty if all
/// passed.
[[nodiscard]] std::string reasons_list(const std::vector<Report::Source>& sources);

}  // namespace d5::detail
