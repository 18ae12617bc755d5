// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {

enum class IfEmpty { filled, refused };

/// Brings the tables of a database up to date in numbered steps, in one transaction. `who` names
/// the database in messages.
/// Throws: FormatError for a database of a newer d5, or with tables that are not d5's.
void bring_up_to_date(SqlConnection& connection, const std::string& who, IfEmpty if_empty);

}  // namespace d5::detail
