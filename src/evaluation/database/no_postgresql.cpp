// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {

std::unique_ptr<SqlConnection> open_postgresql(const std::string&, const SqlOptions&) {
  throw Unsupported(
      "this d5 was built without PostgreSQL's library: install libpq-dev and build it again, or "
      "give a file, which SQLite manages");
}

}  // namespace d5::detail
