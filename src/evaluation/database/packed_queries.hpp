// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/evaluation/load/query_record.hpp"

namespace d5::detail {

/// Number of queries in a block.
inline constexpr std::size_t kQueriesInBlock = std::size_t{1} << 16;

/// Packs queries column by column. Each number is the difference from the one before (a time from
/// an earlier time of its query), in a variable number of bytes: about 15 per query instead of 64.
[[nodiscard]] std::string pack_queries(std::span<const QueryRecord> records);

/// Appends `count` of them to `records`. Throws: FormatError if there are not that many.
void unpack_queries(std::string_view bytes, std::size_t count, std::vector<QueryRecord>& records);

}  // namespace d5::detail
