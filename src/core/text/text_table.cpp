// SPDX-License-Identifier: Apache-2.0
#include "d5/core/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/column_layout.hpp"
#include "d5/core/error.hpp"

namespace d5 {
namespace {

using Row = std::vector<std::string>;
using Column = TextTable::Column;

std::string for_people(const std::vector<Column>& columns, const std::vector<Row>& rows,
                       int width) {
  const detail::ColumnLayout layout(columns, rows, width);
  std::string text = layout.header();
  for (const auto& row : rows) text += layout.row(row);
  return text;
}

using OrderedJson = nlohmann::ordered_json;

OrderedJson object_of(const std::vector<Column>& columns, const Row& row) {
  OrderedJson object = OrderedJson::object();
  for (std::size_t c = 0; c < row.size(); ++c) object[columns[c].title] = row[c];
  return object;
}

std::string to_json(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  OrderedJson list = OrderedJson::array();
  for (const auto& row : rows) list.push_back(object_of(columns, row));
  return list.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string to_jsonl(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  std::string text;
  for (const auto& row : rows) {
    text +=
        object_of(columns, row).dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
  }
  return text;
}

/// A field of RFC 4180: quoted where it holds a comma, a quote or an end of line.
std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
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

void TextTable::drop_empty_columns() {
  for (std::size_t c = columns_.size(); c-- > 0;) {
    if (!std::ranges::all_of(rows_, [&](const Row& row) { return row[c].empty(); })) continue;
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
  std::vector<Row> rows = rows_;
  for (auto& row : rows) {
    for (auto& cell : row) cell = printable_message(cell);
  }
  if (format == Format::table) return for_people(columns_, rows, width);
  if (format == Format::json) return to_json(columns_, rows);
  if (format == Format::jsonl) return to_jsonl(columns_, rows);
  if (format != Format::csv && format != Format::markdown) {
    throw ValueError(
        "formats gbench, html, svg and png are for measurements; use table, json, jsonl, csv or "
        "markdown here");
  }
  Row titles;
  for (const auto& column : columns_) titles.push_back(column.title);
  std::string text;
  if (format == Format::csv) {
    text = joined(titles, "", ",", "\r\n", csv_cell);
    for (const auto& row : rows) text += joined(row, "", ",", "\r\n", csv_cell);
    return text;
  }
  text = joined(titles, "| ", " | ", " |\n", markdown_cell);
  text += joined(titles, "| ", " | ", " |\n", [](const auto&) { return std::string("---"); });
  for (const auto& row : rows) text += joined(row, "| ", " | ", " |\n", markdown_cell);
  return text;
}

}  // namespace d5
