// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tables/text_table.hpp"

namespace d5::detail {

/// A layout with columns of fixed width. Long cells continue in the lines below.
///
/// If the columns do not fit in one line, a row has several: columns without room in the first line
/// are in the next, indented by two spaces, and so are their titles.
class ColumnLayout {
 public:
  using Row = std::vector<std::string>;

  /// Columns are as wide as their titles and rows. If that exceeds `width` characters (0: no
  /// limit), the widest text columns become narrower, down to their longest word. Numbers and the
  /// last `uncut` columns keep their widths.
  ColumnLayout(std::vector<TextTable::Column> columns, const std::vector<Row>& rows, int width,
               std::size_t uncut = 0);

  /// Whether a row has columns in more than one line.
  [[nodiscard]] bool is_folded() const { return line_begins_.size() > 1; }
  /// Titles, and a line below them.
  [[nodiscard]] std::string header() const;
  /// A row, in one line or several, without trailing spaces.
  [[nodiscard]] std::string row(const Row& cells) const;

 private:
  void fold(std::size_t width);
  [[nodiscard]] std::size_t width_between(std::size_t begin, std::size_t end) const;
  [[nodiscard]] std::string line(const Row& cells, std::size_t begin, std::size_t end) const;

  std::vector<TextTable::Column> columns_;
  std::vector<std::size_t> widths_;
  std::size_t spare_ = 0;  ///< room beside an unfolded table, for numbers of later rows and the
                           ///< last column, which are not cut as long as it lasts
  std::vector<std::size_t> line_begins_ = {0};  ///< the first column of each line of a row
};

/// The number of characters, not bytes.
[[nodiscard]] std::size_t character_count(std::string_view text);

/// The first `count` characters of `text`, or all of it.
[[nodiscard]] std::string_view first_characters(std::string_view text, std::size_t count);

/// Wraps `text` to lines of at most `width` characters. Lines break after a space or punctuation. A
/// word longer than a line is cut, but not within a number that fits.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text, std::size_t width);

}  // namespace d5::detail
