// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/open_database.hpp"

#include <filesystem>

#include "d5/core/error.hpp"
#include "evaluation/database/migrations.hpp"

namespace d5::detail {

std::unique_ptr<SqlConnection> open_database(const std::string& address,
                                             const SqlOptions& options) {
  if (address.starts_with(kUnsynced)) {
    SqlOptions unsynced = options;
    unsynced.sync = SqlOptions::Sync::none;
    return open_database(address.substr(kUnsynced.size()), unsynced);
  }
  const bool is_server = address.starts_with("postgresql://") || address.starts_with("postgres://");
  const bool writes = options.missing == SqlOptions::Missing::made;
  if (!is_server && writes) {
    std::error_code error;  // opening says what is wrong
    std::filesystem::create_directories(std::filesystem::path(address).parent_path(), error);
  }
  auto connection = is_server ? open_postgresql(address, options) : open_sqlite(address, options);
  // An address may hold a password: messages do not repeat it.
  bring_up_to_date(*connection, is_server ? "the database" : "'" + printable(address) + "'",
                   writes ? IfEmpty::filled : IfEmpty::refused);
  if (!writes) connection->only_read();
  return connection;
}

}  // namespace d5::detail
