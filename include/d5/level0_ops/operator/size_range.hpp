// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace d5 {

/// Parses a list of sizes, in the grammar of case lines (`expand_case`): "1,4,16", "16..1024*2",
/// "1,8..32+8". Throws: ValueError for anything else, and for a size below 1.
[[nodiscard]] std::vector<std::int64_t> sizes_from(const std::string& text);

}  // namespace d5
