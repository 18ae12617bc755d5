// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// A table as text while its rows come: in memory are those of one piece alone.
///
///     TableWriter writer({"id", "status"}, Format::csv, [](std::string_view text) { ... });
///     for (...) writer.add({id, status});
///     writer.end();
class TableWriter {
 public:
  struct Options {
    int width = 0;  ///< as of `TextTable::to_text`
    /// So many are laid out together, and written. In a table for people a column is as wide as its
    /// widest cell so far: later rows may make it wider from there on.
    std::size_t rows_at_once = 1000;
  };
  using Write = std::function<void(std::string_view)>;

  /// Throws: ValueError for a format of results alone.
  TableWriter(std::vector<TextTable::Column> columns, Format format, Write write, Options options);
  TableWriter(std::vector<TextTable::Column> columns, Format format, Write write);
  /// One cell a column.
  void add(std::vector<std::string> row);
  /// Writes what is left. Without it the text has no end.
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
  std::vector<Row> rows_;  ///< that are not written yet
  Row widest_;             ///< cell of each column, of all so far
  bool has_begun_ = false, has_rows_ = false;
};

}  // namespace d5
