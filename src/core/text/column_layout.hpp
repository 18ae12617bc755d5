// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "d5/core/text_table.hpp"

namespace d5::detail {

/// Columns of fixed widths. What is too long for its column goes on in the lines below.
class ColumnLayout {
 public:
  using Row = std::vector<std::string>;

  /// As wide as titles and rows need; where that is more than `width` characters (0: no limit), the
  /// widest columns of words are made narrower. Numbers are never cut, nor are the last `uncut`.
  ColumnLayout(std::vector<TextTable::Column> columns, const std::vector<Row>& rows, int width,
               std::size_t uncut = 0);

  /// Characters in a line; more than was asked for where columns cannot be that narrow.
  [[nodiscard]] std::size_t width() const;
  /// Titles, and a line below them.
  [[nodiscard]] std::string header() const;
  /// One row, in one line or several; each ends with its last character that is no space.
  [[nodiscard]] std::string row(const Row& cells) const;

 private:
  std::vector<TextTable::Column> columns_;
  std::vector<std::size_t> widths_;
};

/// Characters, not bytes.
[[nodiscard]] std::size_t character_count(std::string_view text);

/// `text` in lines of at most `width` characters, cut behind spaces and punctuation where it can
/// be.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text, std::size_t width);

}  // namespace d5::detail
