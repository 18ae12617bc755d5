// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/sql_connection.hpp"

#include <limits>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

std::string text_of(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? *text : std::string();
}

std::int64_t integer_of(const SqlValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? *integer : 0;
}

double number_of(const SqlValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? double(*integer) : std::numeric_limits<double>::quiet_NaN();
}

void SqlConnection::roll_back() noexcept {
  try {
    run("ROLLBACK");
  } catch (const Error&) {  // SQLite rolled back by itself, or the connection is lost
  }
}

}  // namespace d5::detail
