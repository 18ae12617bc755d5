// SPDX-License-Identifier: Apache-2.0
#include "core/report/html_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/report/markup.hpp"

namespace d5::detail {

HtmlTable::HtmlTable(const TextTable& table) {
  for (const auto& column : table.columns()) titles_.push_back(column.title);
  for (const auto& row : table.rows()) rows_.emplace_back(row.begin(), row.end());
}

bool HtmlTable::is_of_numbers(std::size_t column) const {
  return std::ranges::any_of(rows_, [&](const auto& row) { return row[column].value.has_value(); });
}

void HtmlTable::say_once() {
  if (rows_.empty()) return;
  for (std::size_t c = 0; c < titles_.size();) {
    const std::string text = rows_.front()[c].text;
    const bool same =
        std::ranges::all_of(rows_, [&](const auto& row) { return row[c].text == text; });
    const bool drop = same && (text.empty() || (rows_.size() > 1 && !is_of_numbers(c)));
    if (!drop) {
      ++c;
      continue;
    }
    if (!text.empty()) {
      said_once_ += fmt::format("{}{} <b>{}</b>", said_once_.empty() ? "" : ", ",
                                escaped(titles_[c]), escaped(text));
    }
    titles_.erase(titles_.begin() + std::ptrdiff_t(c));
    for (auto& row : rows_) row.erase(row.begin() + std::ptrdiff_t(c));
  }
}

std::string HtmlTable::html() const {
  std::string text;
  if (!said_once_.empty()) text += "<p class=\"note\">In all rows: " + said_once_ + ".</p>\n";
  text += "<div class=\"scroll\"><table class=\"sorts\"><thead><tr>";
  for (std::size_t c = 0; c < titles_.size(); ++c) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>", is_of_numbers(c) ? " class=\"number\"" : "",
                        escaped(titles_[c]));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows_) {
    text += "<tr>";
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
  return text + "</tbody></table></div>\n";
}

}  // namespace d5::detail
