// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/results/result_cells.hpp"
#include "core/results/result_notes.hpp"
#include "core/tables/column_layout.hpp"
#include "d5/core/screen/screen.hpp"

namespace d5::detail {

/// A table of results for people, whose rows come piece by piece.
///
/// What is equal in all rows of a block is said once above it. The first piece decides the columns;
/// a later one that differs where they do not tell it begins a new block with one column more.
/// Where subjects have several rows each, or have no room, a subject is a line above its rows.
class ResultBlocks {
 public:
  /// `format` is table or markdown. `subjects` are those of all rows that may come; with several,
  /// rows of others are expected after the first piece.
  ResultBlocks(Format format, Screen screen, std::vector<std::string> subjects);

  /// The text of these rows.
  [[nodiscard]] std::string add(const std::vector<Measurement>& rows);
  /// Why rows did not pass.
  [[nodiscard]] std::string end() const;

 private:
  using Row = std::vector<ResultCell>;

  [[nodiscard]] bool fits(const std::vector<Row>& rows);
  [[nodiscard]] std::string begin(const std::vector<Row>& rows,
                                  const std::vector<std::string>& statuses);
  void lay_out(const std::vector<Row>& rows, const std::vector<std::string>& statuses);
  [[nodiscard]] std::string head() const;
  [[nodiscard]] std::vector<TextTable::Column> columns() const;
  [[nodiscard]] std::vector<std::string> place(const Row& row, std::string status) const;
  /// The line above the rows of a subject; empty where there is none.
  [[nodiscard]] std::string section(const std::string& subject);
  [[nodiscard]] std::string print(const std::vector<std::string>& cells, Status status) const;

  Format format_;
  Screen screen_;
  std::vector<std::string> subjects_;
  ResultNotes notes_;
  std::set<std::string> varied_;              ///< has differed in the rows so far
  std::vector<std::string> names_;            ///< of the block's columns but the status
  std::map<std::string, std::string> equal_;  ///< in all rows of the block
  std::vector<std::string> said_;             ///< of `equal_`, above the block
  std::optional<ColumnLayout> layout_;        ///< of the block, for a table
  bool in_sections_ = false;                  ///< a subject is a line above its rows
  std::string section_;                       ///< the last one
  bool begun_ = false;
};

}  // namespace d5::detail
