// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tables/text_table.hpp"

#include <algorithm>
#include <string_view>

#include "d5/core/tables/table_writer.hpp"

namespace d5 {

void TextTable::drop_empty_columns() {
  for (std::size_t c = columns_.size(); c-- > 0;) {
    if (!std::ranges::all_of(rows_, [&](const auto& row) { return row[c].empty(); })) continue;
    columns_.erase(columns_.begin() + std::ptrdiff_t(c));
    for (auto& row : rows_) row.erase(row.begin() + std::ptrdiff_t(c));
  }
}

std::string TextTable::first_cells(std::size_t most) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, rows_.size()); ++i) {
    if (i) text += ", ";
    text += rows_[i].front();
  }
  return rows_.size() > most ? text + ", ..." : text;
}

std::string TextTable::to_text(Format format, int width) const {
  std::string text;
  TableWriter writer(columns_, format, [&](std::string_view piece) { text += piece; },
                     {.width = width, .rows_at_once = rows_.size() + 1});
  for (const auto& row : rows_) writer.add(row);
  writer.end();
  return text;
}

}  // namespace d5
