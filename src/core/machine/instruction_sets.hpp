// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

/// Those of `flags`, as /proc/cpuinfo lists them, that numeric code is compiled for: vectors, fused
/// products, small floats, matrix tiles. Sorted.
[[nodiscard]] std::vector<std::string> instruction_sets(const std::string& flags);

}  // namespace d5::detail
