// SPDX-License-Identifier: Apache-2.0
#include "core/report/html_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/report/markup.hpp"

namespace d5::detail {

HtmlTable::HtmlTable(const TextTable& table) {
  for (const auto& column : table.columns()) titles_.push_back(column.title);
  for (const auto& row : table.rows()) rows_.emplace_back(row.begin(), row.end());
}

bool HtmlTable::is_of_numbers(std::size_t column) const {
  return std::ranges::any_of(rows_, [&](const auto& row) { return row[column].value.has_value(); });
}

void HtmlTable::say_once(std::size_t begin, std::size_t end) {
  for (std::size_t c = titles_.size(); c-- > 0;) {
    std::set<std::string> words;
    for (const auto& row : rows_) words.insert(row[c].text);
    const bool in_all = !words.contains("");
    words.erase("");
    const bool one_word = words.size() == 1 && (c < begin || c >= end) && rows_.size() > 1;
    if (!words.empty() && !one_word) continue;
    if (one_word) {
      std::string& said = in_all ? in_all_rows_ : where_it_applies_;
      said = fmt::format("{} <b>{}</b>{}{}", escaped(titles_[c]), escaped(*words.begin()),
                         said.empty() ? "" : ", ", said);
    }
    titles_.erase(titles_.begin() + std::ptrdiff_t(c));
    for (auto& row : rows_) row.erase(row.begin() + std::ptrdiff_t(c));
  }
}

std::string HtmlTable::html() const {
  std::string text;
  const auto say = [&](const char* where, const std::string& said) {
    if (!said.empty()) text += fmt::format("<p class=\"note\">{}: {}.</p>\n", where, said);
  };
  say("In all rows", in_all_rows_);
  say("In all rows that have it", where_it_applies_);
  text += "<div class=\"scroll\"><table class=\"sorts\"><thead><tr>";
  for (std::size_t c = 0; c < titles_.size(); ++c) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>", is_of_numbers(c) ? " class=\"number\"" : "",
                        escaped(titles_[c]));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const auto& row = rows_[r];
    text += at_the_end_ > 0 && r + at_the_end_ == rows_.size() ? "</tbody>\n<tfoot>\n<tr>" : "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const Cell& cell = row[c];
      std::string words = escaped(cell.text);
      if (!cell.style.empty())
        words = fmt::format("<span class=\"{}\">{}</span>", cell.style, words);
      text += fmt::format("<td{}{}{}>{}</td>", is_of_numbers(c) ? " class=\"number\"" : "",
                          cell.value ? fmt::format(" data-value=\"{}\"", *cell.value) : "",
                          cell.tip.empty() ? "" : fmt::format(" title=\"{}\"", escaped(cell.tip)),
                          words);
    }
    text += "</tr>\n";
  }
  return text + (at_the_end_ > 0 ? "</tfoot>" : "</tbody>") + "</table></div>\n";
}

}  // namespace d5::detail
