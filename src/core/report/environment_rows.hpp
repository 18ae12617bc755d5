// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/report.hpp"

namespace d5::detail {

/// A table of HTML: a row for each field, a column for each source; rows that differ are marked.
[[nodiscard]] std::string environment_rows(const std::vector<Report::Source>& sources);

}  // namespace d5::detail
