// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"

namespace d5::detail {

/// A table whose columns sort where scripts run. Cells are escaped.
class HtmlTable {
 public:
  struct Cell {
    Cell(std::string words) : text(std::move(words)) {}
    Cell(const char* words) : text(words) {}
    Cell(std::string words, double number) : text(std::move(words)), value(number) {}
    std::string text;
    std::optional<double> value = {};  ///< what it sorts by; a column of these stands at the right
    std::string style = {};            ///< class in the page's style
    std::string tip = {};
  };

  explicit HtmlTable(std::vector<std::string> titles) : titles_(std::move(titles)) {}
  explicit HtmlTable(const TextTable& table);
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Takes away columns that are empty, and of the first `columns` those that hold one word alone
  /// in several rows: it is said above the table instead.
  void say_once(std::size_t columns);
  /// The last rows sum up the others: they stay below however these are sorted.
  void end_with(std::size_t rows) { at_the_end_ = rows; }
  [[nodiscard]] std::string html() const;

 private:
  [[nodiscard]] bool is_of_numbers(std::size_t column) const;
  std::vector<std::string> titles_;
  std::vector<std::vector<Cell>> rows_;
  std::size_t at_the_end_ = 0;
  std::string in_all_rows_, where_it_applies_;  ///< what is said above: "device <b>cpu</b>"
};

}  // namespace d5::detail
