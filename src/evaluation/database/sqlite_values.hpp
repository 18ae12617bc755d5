// SPDX-License-Identifier: Apache-2.0
// Values in SQLite's parameters and rows.
#pragma once

#include <string>
#include <vector>

#include "evaluation/database/sql_connection.hpp"

struct sqlite3_stmt;

namespace d5::detail {

/// Binds parameters of a statement without copying their bytes, which must outlive its steps.
/// Returns SQLite's status.
[[nodiscard]] int bind_values(sqlite3_stmt* statement, const SqlRow& values);

/// Names of the columns, and the current row of a statement.
[[nodiscard]] std::vector<std::string> titles_of(sqlite3_stmt* statement);
[[nodiscard]] SqlRow row_of(sqlite3_stmt* statement);

}  // namespace d5::detail
