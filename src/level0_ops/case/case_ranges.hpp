// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

/// The lines that a line with ranges stands for, in the order of nested loops; a line without them
/// is itself. Grammar: `expand_case`. Throws: FormatError.
[[nodiscard]] std::vector<std::string> without_ranges(const std::string& line);

}  // namespace d5::detail
