// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/sqlite_values.hpp"

#include <sqlite3.h>

#include <type_traits>
#include <variant>

namespace d5::detail {
namespace {

SqlValue value_at(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return std::string(text, std::size_t(sqlite3_column_bytes(statement, column)));
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
      return SqlBytes{
          std::string(bytes ? bytes : "", std::size_t(sqlite3_column_bytes(statement, column)))};
    }
    default:
      return std::monostate();
  }
}

}  // namespace

int bind_values(sqlite3_stmt* statement, const SqlRow& values) {
  int place = 0;
  for (const SqlValue& value : values) {
    ++place;
    const int status = std::visit(
        [&](const auto& given) {
          using T = std::decay_t<decltype(given)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            return sqlite3_bind_null(statement, place);
          } else if constexpr (std::is_same_v<T, std::int64_t>) {
            return sqlite3_bind_int64(statement, place, given);
          } else if constexpr (std::is_same_v<T, double>) {
            return sqlite3_bind_double(statement, place, given);
          } else if constexpr (std::is_same_v<T, std::string>) {
            return sqlite3_bind_text64(statement, place, given.data(), given.size(), SQLITE_STATIC,
                                       SQLITE_UTF8);
          } else {
            return sqlite3_bind_blob64(statement, place, given.bytes.data(), given.bytes.size(),
                                       SQLITE_STATIC);
          }
        },
        value);
    if (status != SQLITE_OK) return status;
  }
  return SQLITE_OK;
}

std::vector<std::string> titles_of(sqlite3_stmt* statement) {
  std::vector<std::string> titles;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    titles.emplace_back(sqlite3_column_name(statement, i));
  }
  return titles;
}

SqlRow row_of(sqlite3_stmt* statement) {
  SqlRow row;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) row.push_back(value_at(statement, i));
  return row;
}

}  // namespace d5::detail
