// SPDX-License-Identifier: Apache-2.0
#include "apps/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "d5/core/error.hpp"

namespace d5::app {
namespace {

using Row = std::vector<std::string>;

std::string for_people(const Row& columns, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t width = columns[c].size();
    for (const auto& row : rows) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  const auto line = [&](const Row& cells) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c)
      text += fmt::format("{:<{}}  ", cells[c], widths[c]);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  Row rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  std::string text = line(columns) + line(rule);
  for (const auto& row : rows) text += line(row);
  return text;
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string markdown_cell(const std::string& cell) {
  std::string escaped;
  for (const char c : cell) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

template <class Cell>
std::string joined(const Row& row, const char* begin, const char* between, const char* end,
                   const Cell& cell) {
  std::string text = begin;
  for (std::size_t c = 0; c < row.size(); ++c) text += (c ? between : "") + cell(row[c]);
  return text + end;
}

}  // namespace

std::string TextTable::first_cells(std::size_t most) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, rows_.size()); ++i) {
    if (i) text += ", ";
    text += rows_[i].front();
  }
  return rows_.size() > most ? text + ", ..." : text;
}

std::string TextTable::to_text(Format format) const {
  std::vector<Row> rows = rows_;
  for (auto& row : rows) {
    for (auto& cell : row) cell = printable(cell);
  }
  std::string text;
  switch (format) {
    case Format::table:
      return for_people(columns_, rows);
    case Format::json: {
      auto list = nlohmann::ordered_json::array();
      for (const auto& row : rows) {
        auto& object = list.emplace_back();
        for (std::size_t c = 0; c < row.size(); ++c) object[columns_[c]] = row[c];
      }
      return list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    }
    case Format::csv:
      text = joined(columns_, "", ",", "\r\n", csv_cell);
      for (const auto& row : rows) text += joined(row, "", ",", "\r\n", csv_cell);
      return text;
    case Format::markdown:
      text = joined(columns_, "| ", " | ", " |\n", markdown_cell);
      text += joined(columns_, "| ", " | ", " |\n", [](const auto&) { return std::string("---"); });
      for (const auto& row : rows) text += joined(row, "| ", " | ", " |\n", markdown_cell);
      return text;
  }
  return text;
}

}  // namespace d5::app
