// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5::detail {

/// "LIMIT 51": one row more than a page has, which shows where the next one begins.
[[nodiscard]] std::string limit_of(const PageAsked& page);

/// Throws: ValueError for an unknown place.
[[noreturn]] void refuse_place(const std::string& place);

/// The number of a row from a page's place; 0 without one. Throws: as `refuse_place`.
[[nodiscard]] std::int64_t row_at(const std::string& place);

}  // namespace d5::detail
