// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/open_database.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "core/files/scratch_folder.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "evaluation/database/migrations.hpp"

namespace d5::detail {
namespace {

/// A file with all tables and no rows: writing it as a whole is faster than running the statements.
const std::string& empty_file() {
  static const std::string bytes = [] {
    const ScratchFolder folder("tables");
    const std::string file = folder / "empty.db";
    bring_up_to_date(*open_sqlite(file, {.sync = SqlOptions::Sync::none}), file, IfEmpty::filled);
    return read_file(file);
  }();
  return bytes;
}

/// Makes the folder of the usual database. A folder that somebody named has to exist, because a
/// misspelt one would be an empty database beside the right one.
void prepare_folder(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(file).parent_path();
  std::error_code error;  // opening reports it
  if (folder.empty() || fs::exists(folder, error)) return;
  if (!named_database().empty() || file != usual_database()) {
    throw IoError(
        fmt::format("database '{}': there is no folder '{}'; make it, or correct the name",
                    printable(file), printable(folder.string())));
  }
  fs::create_directories(folder, error);
}

}  // namespace

void prepare_unsynced() { (void)empty_file(); }

std::unique_ptr<SqlConnection> open_database(const std::string& address,
                                             const SqlOptions& options) {
  if (address.starts_with(kUnsynced)) {
    SqlOptions unsynced = options;
    unsynced.sync = SqlOptions::Sync::none;
    return open_database(address.substr(kUnsynced.size()), unsynced);
  }
  const bool is_server = address.starts_with("postgresql://") || address.starts_with("postgres://");
  const bool writes = options.missing == SqlOptions::Missing::made;
  std::error_code unknown;  // opening reports the error
  if (!is_server && writes) prepare_folder(address);
  if (options.sync == SqlOptions::Sync::none && writes && !is_server &&
      !std::filesystem::exists(address, unknown)) {
    std::ofstream(address, std::ios::binary) << empty_file();
  }
  auto connection = is_server ? open_postgresql(address, options) : open_sqlite(address, options);
  // An address may hold a password, so messages do not repeat it.
  bring_up_to_date(*connection, is_server ? "the database" : "'" + printable(address) + "'",
                   writes ? IfEmpty::filled : IfEmpty::refused);
  if (!writes) connection->only_read();
  return connection;
}

}  // namespace d5::detail
