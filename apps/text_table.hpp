// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/options.hpp"

namespace d5::app {

/// Words in rows and columns, for what is no measurement: lists, properties. Cells are printed
/// escaped, whatever file they came from.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  /// One cell a column.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  /// "a, b, c, ...": the first cells of the first `most` rows.
  [[nodiscard]] std::string first_cells(std::size_t most) const;
  /// A table for people, an array of JSON objects, CSV (RFC 4180) or Markdown.
  [[nodiscard]] std::string to_text(Format format) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace d5::app
