// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/evaluation/evaluation_database.hpp"
#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {

/// What LIKE takes for the text: "*" becomes its "%", and its own signs stand for themselves.
[[nodiscard]] std::string pattern_of(const std::string& text);

/// A filter as SQL: conditions on a record m of a run r of a system s.
class RecordConditions {
 public:
  explicit RecordConditions(const RecordFilter& filter);
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const SqlRow& values() const { return values_; }
  /// Whether it asks for more than runs.
  [[nodiscard]] bool asks_records() const { return asks_records_; }

  /// One more: `words` with {} where each of `values` goes.
  void also(const std::string& words, std::initializer_list<SqlValue> values);

 private:
  std::string place(SqlValue value);
  void like(const char* column, const std::string& text, const char* ending = "");
  void compare(const char* what, const std::string& text);

  std::string text_ = "1 = 1";
  SqlRow values_;
  bool asks_records_ = false;
};

}  // namespace d5::detail
