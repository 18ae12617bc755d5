// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level0_ops/case/operator_case.hpp"

namespace d5::detail {

/// A case of an expanded line.
struct ExpandedLine {
  std::string line;
  CaseSweep sweep = {};
};

/// Expands a line with variables, in the order of nested loops. A line without variables is
/// returned unchanged. Grammar: `expand_case`. Throws: FormatError.
[[nodiscard]] std::vector<ExpandedLine> without_ranges(const std::string& line);

}  // namespace d5::detail
