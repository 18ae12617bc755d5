// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/evaluation/load/query_record.hpp"

namespace d5::detail {

/// So many queries are packed together.
inline constexpr std::size_t kQueriesInBlock = std::size_t{1} << 16;

/// Queries column by column, each number as what it differs from the one before (a time from the
/// one before it in its query), in as few bytes as that takes: about 15 a query in place of 64.
[[nodiscard]] std::string pack_queries(std::span<const QueryRecord> records);

/// Appends `count` of them to `records`. Throws: FormatError for what is not that many.
void unpack_queries(std::string_view bytes, std::size_t count, std::vector<QueryRecord>& records);

}  // namespace d5::detail
