// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"

namespace d5::detail {

/// An HTML table, sortable by script. Cells are escaped.
class HtmlTable {
 public:
  struct Cell {
    Cell(std::string words) : text(std::move(words)) {}
    Cell(const char* words) : text(words) {}
    Cell(std::string words, double number) : text(std::move(words)), value(number) {}
    std::string text;
    std::optional<double> value = {};  ///< sort key; such columns are right-aligned
    std::string style = {};            ///< CSS class
    std::string tip = {};
  };

  explicit HtmlTable(std::vector<std::string> titles) : titles_(std::move(titles)) {}
  explicit HtmlTable(const TextTable& table);
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Removes empty columns. Moves columns with the same text in several rows above the table,
  /// except those from `begin` to `end`, which are the row's numbers.
  void say_once(std::size_t begin, std::size_t end);
  /// Keeps the last rows, which summarise the others, at the end for any sorting.
  void end_with(std::size_t rows) { at_the_end_ = rows; }
  [[nodiscard]] std::string html() const;

 private:
  [[nodiscard]] bool is_of_numbers(std::size_t column) const;
  std::vector<std::string> titles_;
  std::vector<std::vector<Cell>> rows_;
  std::size_t at_the_end_ = 0;
  std::string in_all_rows_, where_it_applies_;  ///< text above the table: "device <b>cpu</b>"
};

}  // namespace d5::detail
