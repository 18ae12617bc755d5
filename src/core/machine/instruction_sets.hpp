// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

/// The instruction sets in `flags` (from /proc/cpuinfo) that matter to numeric code: vectors, fused
/// multiply-add, small floats, matrix tiles. Sorted.
[[nodiscard]] std::vector<std::string> instruction_sets(const std::string& flags);

}  // namespace d5::detail
