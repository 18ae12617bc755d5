// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/report.hpp"

namespace d5::detail {

/// An HTML table with a row per field and a column per source. Rows with differences are marked.
[[nodiscard]] std::string environment_rows(const std::vector<Report::Source>& sources);

}  // namespace d5::detail
