// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// Writes a table incrementally. Holds only one block of rows in memory.
///
///     TableWriter writer({"id", "status"}, Format::csv, [](std::string_view text) { ... });
///     for (...) writer.add({id, status});
///     writer.end();
class TableWriter {
 public:
  struct Options {
    int width = 0;  ///< as in `TextTable::to_text`
    /// Number of rows that are laid out and written together. In a table for people a column is as
    /// wide as its widest cell so far: it may become wider in later blocks.
    std::size_t rows_at_once = 1000;
  };
  using Write = std::function<void(std::string_view)>;

  /// Throws: ValueError for a format that only results have.
  TableWriter(std::vector<TextTable::Column> columns, Format format, Write write, Options options);
  TableWriter(std::vector<TextTable::Column> columns, Format format, Write write);
  /// Adds a row, with one cell per column.
  void add(std::vector<std::string> row);
  /// Writes the remaining rows and the end of the text. Must be called last.
  void end();

 private:
  using Row = std::vector<std::string>;
  [[nodiscard]] std::string titles() const;
  void flush();
  void lay_out(std::string& text);

  std::vector<TextTable::Column> columns_;
  Format format_;
  Write write_;
  Options options_;
  std::vector<Row> rows_;  ///< not written yet
  Row widest_;             ///< widest cell of each column so far
  bool has_begun_ = false, has_rows_ = false;
};

}  // namespace d5
