// SPDX-License-Identifier: Apache-2.0
// Values in PostgreSQL's text and parameter formats.
#pragma once

#include <string>
#include <vector>

#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {

/// Adds a value to a row of COPY's text format.
void add_copied(std::string& line, const SqlValue& value);

/// Parameters for libpq: all as text, except bytes.
class PostgresqlParameters {
 public:
  explicit PostgresqlParameters(const SqlRow& row);
  [[nodiscard]] int count() const { return int(values_.size()); }
  [[nodiscard]] const char* const* values() const { return values_.data(); }
  [[nodiscard]] const int* lengths() const { return lengths_.data(); }
  [[nodiscard]] const int* formats() const { return formats_.data(); }

 private:
  void add(const SqlValue& value);
  std::vector<std::string> texts_;
  std::vector<const char*> values_;
  std::vector<int> lengths_, formats_;
};

}  // namespace d5::detail
