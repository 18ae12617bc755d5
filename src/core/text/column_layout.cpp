// SPDX-License-Identifier: Apache-2.0
#include "core/text/column_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace d5::detail {
namespace {

constexpr std::size_t kGap = 2;  // between two columns

bool begins_character(char c) { return (std::uint8_t(c) & 0xc0) != 0x80; }

/// Bytes of the first `count` characters.
std::size_t bytes_of_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_character(text[at]) && count-- == 0) break;
  }
  return at;
}

}  // namespace

std::size_t character_count(std::string_view text) {
  return std::size_t(std::ranges::count_if(text, begins_character));
}

std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (character_count(text) > width) {
    std::size_t end = bytes_of_characters(text, width);
    // A space may fall into the gap; a cut that leaves too little of the line is none.
    if (text[end] != ' ') {
      const auto space = text.substr(0, end).rfind(' ');
      const auto mark = text.substr(0, end).find_last_of("/,;:_-.=");
      if (space != std::string_view::npos && space >= end / 3) {
        end = space + 1;
      } else if (mark != std::string_view::npos && mark >= end / 2) {
        end = mark + 1;
      }
    }
    std::string_view line = text.substr(0, end);
    while (line.ends_with(' ')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(end);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  lines.emplace_back(text);
  return lines;
}

ColumnLayout::ColumnLayout(std::vector<TextTable::Column> columns, const std::vector<Row>& rows,
                           int width, std::size_t uncut)
    : columns_(std::move(columns)) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = character_count(columns_[c].title);
    for (const auto& row : rows) widest = std::max(widest, character_count(row[c]));
    widths_.push_back(widest);
  }
  if (width <= 0) return;
  constexpr std::size_t kNarrowest = 10;
  while (this->width() > std::size_t(width)) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c + uncut < columns_.size(); ++c) {
      if (columns_[c].align == TextTable::Align::right || widths_[c] <= kNarrowest) continue;
      if (widest == columns_.size() || widths_[c] > widths_[widest]) widest = c;
    }
    if (widest == columns_.size()) return;
    --widths_[widest];
  }
}

std::size_t ColumnLayout::width() const {
  return std::accumulate(widths_.begin(), widths_.end(), kGap * (widths_.size() - 1));
}

std::string ColumnLayout::header() const {
  Row titles, lines;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    titles.push_back(columns_[c].title);
    lines.emplace_back(widths_[c], '-');
  }
  return row(titles) + row(lines);
}

std::string ColumnLayout::row(const Row& cells) const {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 1;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const bool is_number = columns_[c].align == TextTable::Align::right;
    parts.push_back(is_number ? std::vector{cells[c]} : lines_of(cells[c], widths_[c]));
    height = std::max(height, parts.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string all;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string cell = line < parts[c].size() ? parts[c][line] : "";
      const std::string space(widths_[c] - std::min(widths_[c], character_count(cell)), ' ');
      all += (columns_[c].align == TextTable::Align::left ? cell + space : space + cell);
      all += std::string(kGap, ' ');
    }
    all.erase(all.find_last_not_of(' ') + 1);
    text += all + '\n';
  }
  return text;
}

}  // namespace d5::detail
