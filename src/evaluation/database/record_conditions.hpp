// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "d5/evaluation/database/evaluation_database.hpp"
#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {

/// A pattern for LIKE: "*" becomes "%", and LIKE's own signs are escaped.
[[nodiscard]] std::string pattern_of(const std::string& text);

/// A filter as SQL: conditions on a record m of a run r of a system s. A text of several lines
/// matches what any of its lines does.
class RecordConditions {
 public:
  /// Throws: ValueError for an unknown status, and a time that is not one.
  explicit RecordConditions(const RecordFilter& filter);
  [[nodiscard]] std::string text() const { return of_runs_ + of_records_ + more_; }
  /// Its parts, in the fixed order of their parameters: conditions on runs, conditions on records,
  /// and further ones.
  [[nodiscard]] const std::string& of_runs() const { return of_runs_; }
  [[nodiscard]] const std::string& of_records() const { return of_records_; }
  [[nodiscard]] const std::string& more() const { return more_; }
  [[nodiscard]] const SqlRow& values() const { return values_; }
  /// Whether it has conditions beyond those on runs.
  [[nodiscard]] bool asks_records() const { return !of_records_.empty(); }

  /// Adds a condition: `words` has {} for each of `values`.
  void also(const std::string& words, std::initializer_list<SqlValue> values);

  /// Adds a condition: a column has one of these texts.
  void any_of(const char* column, const std::vector<std::string>& texts);
  /// "$5": a parameter after those of all conditions.
  [[nodiscard]] std::string place(SqlValue value);

 private:
  void add(std::string& to, const std::string& words, std::initializer_list<SqlValue> values);
  void like(std::string& to, const char* column, const std::string& text, const char* ending = "");
  void compare(const char* what, const char* name, const std::string& text);

  std::string of_runs_ = "1 = 1", of_records_, more_;  ///< each condition is preceded by AND
  SqlRow values_;
};

}  // namespace d5::detail
