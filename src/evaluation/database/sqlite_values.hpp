// SPDX-License-Identifier: Apache-2.0
// How SQLite is told values, and tells them.
#pragma once

#include <string>
#include <vector>

#include "evaluation/database/sql_connection.hpp"

struct sqlite3_stmt;

namespace d5::detail {

/// Parameters of a statement, whose bytes are not copied: they outlive its steps. SQLite's status.
[[nodiscard]] int bind_values(sqlite3_stmt* statement, const SqlRow& values);

/// What the columns are called, and the row at which a statement stands.
[[nodiscard]] std::vector<std::string> titles_of(sqlite3_stmt* statement);
[[nodiscard]] SqlRow row_of(sqlite3_stmt* statement);

}  // namespace d5::detail
