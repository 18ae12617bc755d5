// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace d5::detail {

/// Reads the edges of a text file, one per line: "0 3". Blank lines and comments after # are
/// ignored.
/// Throws: IoError; FormatError, ValueError (a rank outside 0 to ranks - 1) that name the line.
[[nodiscard]] std::vector<std::pair<int, int>> read_edges(const std::string& path, int ranks);

}  // namespace d5::detail
