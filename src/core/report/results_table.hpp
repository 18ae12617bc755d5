// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/report.hpp"

namespace d5::detail {

[[nodiscard]] std::vector<Measurement> measurements_of(const std::vector<Report::Source>& sources);

/// All records as an HTML table, one row each, with their common values above it.
[[nodiscard]] std::string results_table(const std::vector<Report::Source>& sources);

/// The summaries over cases (`summaries_of`), file by file; may be empty.
[[nodiscard]] std::string summary_table(const std::vector<Report::Source>& sources);

/// The reasons of records that did not pass, as an HTML list: each reason once, with its records.
/// Empty if all passed.
[[nodiscard]] std::string reasons_list(const std::vector<Report::Source>& sources);

}  // namespace d5::detail
