// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {

/// Before the path of a file: `SqlOptions::Sync::none`.
inline constexpr std::string_view kUnsynced = "unsynced:";
/// Makes what such a file begins with, for this process and those that are forked from it.
void prepare_unsynced();

/// A database of d5's with all its tables: `address` is the path of a file, or that of a server.
/// One that must be there is only read; one that is made where it is missing is brought up to date.
/// Throws: as `EvaluationDatabase::open`.
[[nodiscard]] std::unique_ptr<SqlConnection> open_database(const std::string& address,
                                                           const SqlOptions& options);

}  // namespace d5::detail
