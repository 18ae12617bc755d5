// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5 {

/// Output format of results and lists.
enum class Format {
  table,     ///< for people
  json,      ///< a results file; for a list, an array of objects
  jsonl,     ///< JSON Lines: one object per row
  csv,       ///< RFC 4180
  markdown,  ///< GitHub's tables
  // For results only:
  gbench,  ///< Google Benchmark's JSON, for its compare.py
  html,    ///< a page
  svg,     ///< the first plot
  png,
};

/// Whether the format is a table for people rather than for programs.
[[nodiscard]] constexpr bool is_for_people(Format format) {
  return format == Format::table || format == Format::markdown;
}

/// A table of text. Cells are escaped when printed, so they may come from any file.
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
  /// Adds a row, with one cell per column.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  /// Removes the columns that are empty in every row.
  void drop_empty_columns();
  /// "a, b, c, ...": the first cells of the first `most` rows.
  [[nodiscard]] std::string first_cells(std::size_t most) const;
  /// The table as text. Lines for people have at most `width` characters if possible; 0: no limit.
  /// Throws: ValueError for a format that only results have.
  [[nodiscard]] std::string to_text(Format format, int width = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace d5
