// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/core/report/result_printer.hpp"

namespace d5::app {

/// Prints the results of a list of work as they come.
class WorkRows {
 public:
  /// Both outlive the printer.
  enum class Blocks {
    together,  ///< as many as fit into one table
    apart  ///< each piece's own table, for people, with the columns that it needs, and why it did
           ///< not pass
  };
  WorkRows(const std::vector<WorkPiece>& pieces, const OutputOptions& output,
           Blocks blocks = Blocks::together);

  /// Prints the records of a piece.
  void add(std::vector<Measurement> records);
  /// Prints what needs all records.
  void end(const Results& all);

 private:
  ResultPrinter& printer();
  [[nodiscard]] bool only_tables(const Results& all) const;

  const OutputOptions& output_;
  Blocks blocks_;
  std::vector<std::string> subjects_;
  std::map<std::string, std::string> varying_;
  std::optional<ResultPrinter> printer_;  ///< empty: the next piece has other columns
  bool printed_ = false;
};

}  // namespace d5::app
