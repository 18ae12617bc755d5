// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tables/table_writer.hpp"

#include <nlohmann/json.hpp>

#include "core/tables/column_layout.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

using Row = std::vector<std::string>;
using OrderedJson = nlohmann::ordered_json;

std::string object_of(const std::vector<TextTable::Column>& columns, const Row& row, int indent) {
  OrderedJson object = OrderedJson::object();
  for (std::size_t c = 0; c < row.size(); ++c) object[columns[c].title] = row[c];
  return object.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

/// An object of a list. Its texts contain no line ends.
std::string list_item(const std::string& object) {
  std::string text = "\n  ";
  for (const char c : object) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

/// A field of RFC 4180, quoted if it contains a comma, a quote or a line end.
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

std::string csv_line(const Row& row) { return joined(row, "", ",", "\r\n", csv_cell); }
std::string markdown_line(const Row& row) {
  return joined(row, "| ", " | ", " |\n", markdown_cell);
}

}  // namespace

TableWriter::TableWriter(std::vector<TextTable::Column> columns, Format format, Write write)
    : TableWriter(std::move(columns), format, std::move(write), Options{}) {}

TableWriter::TableWriter(std::vector<TextTable::Column> columns, Format format, Write write,
                         Options options)
    : columns_(std::move(columns)),
      format_(format),
      write_(std::move(write)),
      options_(options),
      widest_(columns_.size()) {
  if (!is_for_people(format) && format != Format::json && format != Format::jsonl &&
      format != Format::csv) {
    throw ValueError(
        "formats gbench, html, svg and png are for measurements; use table, json, jsonl, csv or "
        "markdown here");
  }
}

void TableWriter::add(Row row) {
  for (auto& cell : row) cell = printable_message(cell);
  rows_.push_back(std::move(row));
  if (rows_.size() >= options_.rows_at_once) flush();
}

void TableWriter::end() {
  flush();
  if (format_ == Format::json) write_(has_rows_ ? "\n]\n" : "]\n");
}

void TableWriter::flush() {
  std::string text;
  if (format_ == Format::table) {
    lay_out(text);
  } else {
    if (!has_begun_) text = titles();
    for (const Row& row : rows_) {
      switch (format_) {
        case Format::json:
          text += (has_rows_ ? "," : "") + list_item(object_of(columns_, row, 2));
          break;
        case Format::jsonl:
          text += object_of(columns_, row, -1) + "\n";
          break;
        case Format::csv:
          text += csv_line(row);
          break;
        default:
          text += markdown_line(row);
      }
      has_rows_ = true;
    }
  }
  has_begun_ = true;
  rows_.clear();
  if (!text.empty()) write_(text);
}

/// The text before the first row.
std::string TableWriter::titles() const {
  if (format_ == Format::json) return "[";
  if (format_ == Format::jsonl) return {};
  Row titles;
  for (const auto& column : columns_) titles.push_back(column.title);
  if (format_ == Format::csv) return csv_line(titles);
  return markdown_line(titles) + markdown_line(Row(columns_.size(), "---"));
}

void TableWriter::lay_out(std::string& text) {
  for (const Row& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (detail::character_count(row[c]) > detail::character_count(widest_[c])) {
        widest_[c] = row[c];
      }
    }
  }
  rows_.push_back(widest_);  // includes earlier rows
  const detail::ColumnLayout layout(columns_, rows_, options_.width);
  rows_.pop_back();
  if (!has_begun_) text += layout.header();
  for (const Row& row : rows_) text += layout.row(row);
}

}  // namespace d5
