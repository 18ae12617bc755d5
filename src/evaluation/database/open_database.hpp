// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {

/// Prefix of a file's path: `SqlOptions::Sync::none`.
inline constexpr std::string_view kUnsynced = "unsynced:";
/// Prepares the empty file, for this process and those forked from it.
void prepare_unsynced();

/// Opens a database with all its tables: `address` is the path of a file, or a server's. With
/// `Missing::refused` it is only read; otherwise it is created if it is missing, and brought up to
/// date. Throws: as `EvaluationDatabase::open`.
[[nodiscard]] std::unique_ptr<SqlConnection> open_database(const std::string& address,
                                                           const SqlOptions& options);

}  // namespace d5::detail
