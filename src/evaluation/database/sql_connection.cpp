// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/sql_connection.hpp"

#include "d5/core/error.hpp"

namespace d5::detail {

void SqlConnection::roll_back() noexcept {
  try {
    run("ROLLBACK");
  } catch (const Error&) {  // SQLite rolled back by itself, or the connection is lost
  }
}

}  // namespace d5::detail
