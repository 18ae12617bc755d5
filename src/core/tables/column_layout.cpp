// SPDX-License-Identifier: Apache-2.0
#include "core/tables/column_layout.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <numeric>

#include "d5/core/tables/wrapped_text.hpp"

namespace d5 {

std::string wrapped(std::string_view text, int width) {
  const std::size_t room = width > 0 ? std::size_t(width) : text.size() + 1;
  std::string lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    for (const auto& part : detail::lines_of(line, room)) lines += part + '\n';
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return lines;
}

namespace detail {
namespace {

constexpr std::size_t kGap = 2;  // between two columns

bool begins_character(char c) { return (std::uint8_t(c) & 0xc0) != 0x80; }

/// The number of bytes in the first `count` characters.
std::size_t bytes_of_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_character(text[at]) && count-- == 0) break;
  }
  return at;
}

bool is_digit(char c) { return std::isdigit(std::uint8_t(c)) != 0; }

/// Whether a line may end before the byte `at`, which is neither the first nor past the last. A dot
/// or a dash before a digit belongs to a number: 0.5, 1e-06.
bool may_cut(std::string_view text, std::size_t at) {
  const char before = text[at - 1];
  if (before == ' ') return true;
  if (text[at] == ' ') return false;
  if (before == '.' || before == '-') return !is_digit(text[at]);
  return std::string_view("/,;:_=").find(before) != std::string_view::npos;
}

/// The break position of a line of at most `end` bytes; 0: none.
std::size_t last_cut(std::string_view text, std::size_t end) {
  while (end > 0 && !may_cut(text, end)) --end;
  return end;
}

std::string_view word_at(std::string_view text, std::size_t begin) {
  return text.substr(begin, text.find(' ', begin) - begin);
}

/// Length of the longest word in characters; of long words, the longest unbreakable piece.
std::size_t longest_word(std::string_view text) {
  constexpr std::size_t kLong = 24;
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string_view word = word_at(text, begin);
    begin += word.size() + 1;
    if (character_count(word) <= kLong) {
      longest = std::max(longest, character_count(word));
      continue;
    }
    std::size_t piece = 0;
    for (std::size_t at = 1; at <= word.size(); ++at) {
      if (at < word.size() && !may_cut(word, at)) continue;
      longest = std::max(longest, character_count(word.substr(piece, at - piece)));
      piece = at;
    }
  }
  return longest;
}

constexpr std::size_t kIndent = 2;  // indentation of a row's later lines

}  // namespace

std::size_t character_count(std::string_view text) {
  return std::size_t(std::ranges::count_if(text, begins_character));
}

std::string_view first_characters(std::string_view text, std::size_t count) {
  return text.substr(0, bytes_of_characters(text, count));
}

std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (character_count(text) > width) {
    const std::size_t full = bytes_of_characters(text, width);
    std::size_t end = full;
    if (text[full] != ' ') {
      const std::size_t word =
          text.rfind(' ', full - 1) + 1;  // begin of the last word; npos + 1 is 0
      end = character_count(word_at(text, word)) <= width ? word : last_cut(text, full);
      if (end == 0) {
        end = full;
        while (end > 0 && is_digit(text[end]) && is_digit(text[end - 1])) --end;
        if (end == 0) end = full;
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
  std::vector<std::size_t> least;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = character_count(columns_[c].title);
    std::size_t longest = longest_word(columns_[c].title);
    for (const auto& row : rows) {
      widest = std::max(widest, character_count(row[c]));
      longest = std::max(longest, longest_word(row[c]));
    }
    const bool is_cut = columns_[c].align == TextTable::Align::left && c + uncut < columns_.size();
    widths_.push_back(widest);
    constexpr std::size_t kNarrowest = 10;
    least.push_back(is_cut ? std::min(widest, std::max(longest, kNarrowest)) : widest);
  }
  if (width <= 0) {
    spare_ = std::numeric_limits<std::size_t>::max();
    return;
  }
  const std::vector<std::size_t> natural = widths_;
  while (width_between(0, widths_.size()) > std::size_t(width)) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (widths_[c] <= least[c]) continue;
      if (widest == columns_.size() || widths_[c] > widths_[widest]) widest = c;
    }
    if (widest == columns_.size()) {
      widths_ = natural;
      fold(std::size_t(width));
      return;
    }
    --widths_[widest];
  }
  spare_ = std::size_t(width) - width_between(0, widths_.size());
}

void ColumnLayout::fold(std::size_t width) {
  for (std::size_t& one : widths_) one = std::min(one, width - kIndent);
  for (std::size_t c = 1; c < widths_.size(); ++c) {
    const std::size_t begin = line_begins_.back(), indent = begin == 0 ? 0 : kIndent;
    if (indent + width_between(begin, c + 1) > width) line_begins_.push_back(c);
  }
}

std::size_t ColumnLayout::width_between(std::size_t begin, std::size_t end) const {
  return std::accumulate(widths_.begin() + std::ptrdiff_t(begin),
                         widths_.begin() + std::ptrdiff_t(end), kGap * (end - begin - 1));
}

std::string ColumnLayout::header() const {
  Row titles, lines;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    titles.push_back(columns_[c].title);
    lines.emplace_back(widths_[c], '-');
  }
  const std::size_t first = is_folded() ? line_begins_[1] : columns_.size();
  return row(titles) + line(lines, 0, first);
}

std::string ColumnLayout::row(const Row& cells) const {
  std::string text;
  for (std::size_t i = 0; i < line_begins_.size(); ++i) {
    const bool last = i + 1 == line_begins_.size();
    text += line(cells, line_begins_[i], last ? cells.size() : line_begins_[i + 1]);
  }
  return text;
}

/// The columns from `begin` to `end`; omits later lines with only empty cells.
std::string ColumnLayout::line(const Row& cells, std::size_t begin, std::size_t end) const {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 1, spare = spare_;
  bool empty = true;
  for (std::size_t c = begin; c < end; ++c) {
    const bool is_number = columns_[c].align == TextTable::Align::right;
    const bool is_last = c + 1 == columns_.size();
    const std::size_t size = character_count(cells[c]);
    const std::size_t more = size - std::min(size, widths_[c]);
    if (is_number && more <= spare) {
      parts.push_back({cells[c]});
      spare -= more;
    } else {
      parts.push_back(lines_of(cells[c], widths_[c] + (is_last ? std::min(more, spare) : 0)));
    }
    height = std::max(height, parts.back().size());
    empty = empty && cells[c].empty();
  }
  if (empty && begin > 0) return "";
  std::string text;
  for (std::size_t k = 0; k < height; ++k) {
    std::string all(begin == 0 ? 0 : kIndent, ' ');
    for (std::size_t c = begin; c < end; ++c) {
      const std::string cell = k < parts[c - begin].size() ? parts[c - begin][k] : "";
      const std::string space(widths_[c] - std::min(widths_[c], character_count(cell)), ' ');
      all += (columns_[c].align == TextTable::Align::left ? cell + space : space + cell);
      all += std::string(kGap, ' ');
    }
    all.erase(all.find_last_not_of(' ') + 1);
    text += all + '\n';
  }
  return text;
}

}  // namespace detail
}  // namespace d5
