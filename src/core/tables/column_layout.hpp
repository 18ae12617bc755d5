// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tables/text_table.hpp"

namespace d5::detail {

/// Columns of fixed widths. What is too long for its column goes on in the lines below.
///
/// Where columns cannot stand side by side, a row has several lines: columns that have no room in
/// the first stand in the next one, two spaces to the right; so do the titles.
class ColumnLayout {
 public:
  using Row = std::vector<std::string>;

  /// As wide as titles and rows need; where that is more than `width` characters (0: no limit), the
  /// widest columns of words become narrower, down to their longest word. Numbers and the last
  /// `uncut` columns keep their widths.
  ColumnLayout(std::vector<TextTable::Column> columns, const std::vector<Row>& rows, int width,
               std::size_t uncut = 0);

  /// Whether a row has columns in more than one line.
  [[nodiscard]] bool is_folded() const { return line_begins_.size() > 1; }
  /// Titles, and a line below them.
  [[nodiscard]] std::string header() const;
  /// One row, in one line or several; each ends with its last character that is no space.
  [[nodiscard]] std::string row(const Row& cells) const;

 private:
  void fold(std::size_t width);
  [[nodiscard]] std::size_t width_between(std::size_t begin, std::size_t end) const;
  [[nodiscard]] std::string line(const Row& cells, std::size_t begin, std::size_t end) const;

  std::vector<TextTable::Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::size_t> line_begins_ = {0};  ///< the first column of each line of a row
};

/// Characters, not bytes.
[[nodiscard]] std::size_t character_count(std::string_view text);

/// The first `count` characters of `text`, or all of it.
[[nodiscard]] std::string_view first_characters(std::string_view text, std::size_t count);

/// `text` in lines of at most `width` characters. A line ends behind a space or punctuation; a word
/// that is longer than a line is cut, but not within a number that fits.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text, std::size_t width);

}  // namespace d5::detail
