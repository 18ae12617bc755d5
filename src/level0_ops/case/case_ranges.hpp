// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level0_ops/case/operator_case.hpp"

namespace d5::detail {

/// One of the cases that a line stands for.
struct ExpandedLine {
  std::string line;
  CaseSweep sweep = {};
};

/// The lines that a line with ranges stands for, in the order of nested loops; a line without them
/// is itself. Grammar: `expand_case`. Throws: FormatError.
[[nodiscard]] std::vector<ExpandedLine> without_ranges(const std::string& line);

}  // namespace d5::detail
