// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5 {

/// How results and lists are written.
enum class Format {
  table,     ///< for people
  json,      ///< a results file; of a list, an array of objects
  jsonl,     ///< JSON Lines: an object a row
  csv,       ///< RFC 4180
  markdown,  ///< GitHub's tables
  // Of results alone:
  gbench,  ///< the JSON of Google Benchmark, for its compare.py
  html,    ///< a page
  svg,     ///< the first of the plots
  png,
};

/// A table to look at, not one for programs.
[[nodiscard]] constexpr bool is_for_people(Format format) {
  return format == Format::table || format == Format::markdown;
}

/// Words in rows and columns. Cells are printed escaped, whatever file they came from.
class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    Column(std::string name) : title(std::move(name)) {}
    Column(const char* name) : title(name) {}
    Column(std::string name, Align side) : title(std::move(name)), align(side) {}
    std::string title;
    Align align = Align::left;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell a column.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  /// Takes away the columns that are empty in every row.
  void drop_empty_columns();
  /// "a, b, c, ...": the first cells of the first `most` rows.
  [[nodiscard]] std::string first_cells(std::size_t most) const;
  /// For people in lines of at most `width` characters, where that can be; 0: as long as they are.
  /// Throws: ValueError for a format of results alone.
  [[nodiscard]] std::string to_text(Format format, int width = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace d5
