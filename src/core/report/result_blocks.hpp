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

/// An incremental table of results for people, in blocks.
///
/// Values that all rows of a block share are printed once above it. The first piece determines the
/// columns. A later piece that differs in another value begins a new block with an additional
/// column. If subjects have several rows each, or no room, a subject is a line above its rows. Rows
/// with findings that few others of their piece have follow in a block of their own.
class ResultBlocks {
 public:
  /// `format` is table or markdown. `subjects` are those of all expected rows; `varying` are
  /// columns that differ in them, each with its longest text.
  ResultBlocks(Format format, Screen screen, std::vector<std::string> subjects,
               std::map<std::string, std::string> varying);

  /// Adds rows, and returns their text.
  [[nodiscard]] std::string add(const std::vector<Measurement>& rows);
  /// The reasons of rows that did not pass.
  [[nodiscard]] std::string end() const;

 private:
  using Row = std::vector<ResultCell>;

  /// Adds rows to one block: the current one if they fit it and `begins` is false.
  [[nodiscard]] std::string add_alike(const std::vector<const Measurement*>& rows,
                                      const std::vector<Row>& cells, bool begins);
  [[nodiscard]] bool fits(const std::vector<Row>& rows);
  [[nodiscard]] std::string begin(const std::vector<Row>& rows,
                                  const std::vector<std::string>& statuses);
  void lay_out(const std::vector<Row>& rows, const std::vector<std::string>& statuses);
  [[nodiscard]] std::string head() const;
  [[nodiscard]] std::vector<TextTable::Column> columns() const;
  [[nodiscard]] std::vector<std::string> place(const Row& row, std::string status) const;
  /// The line above a subject's rows; empty if there is none.
  [[nodiscard]] std::string section(const std::string& subject);
  [[nodiscard]] std::string print(const std::vector<std::string>& cells, Status status) const;

  Format format_;
  Screen screen_;
  std::vector<std::string> subjects_;
  std::map<std::string, std::string> varying_;
  ResultNotes notes_;
  std::set<std::string> varied_;              ///< columns that differed in the rows so far
  std::vector<std::string> names_;            ///< the block's columns, except the status
  std::map<std::string, std::string> equal_;  ///< equal in all rows of the block
  std::vector<std::string> said_;             ///< names of `equal_` printed above the block
  std::optional<ColumnLayout> layout_;        ///< the block's layout, for a table
  bool in_sections_ = false;                  ///< a subject is a line above its rows
  std::string section_;                       ///< the last subject line
  bool begun_ = false;
};

}  // namespace d5::detail
