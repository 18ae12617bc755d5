// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "apps/options.hpp"
#include "d5/core/result_printer.hpp"
#include "d5/core/work_list.hpp"

namespace d5::app {

/// Prints what a list of work gives, as it comes.
class WorkRows {
 public:
  /// Both outlive it.
  WorkRows(const std::vector<WorkPiece>& pieces, const OutputOptions& output);

  /// Of a piece.
  void add(std::vector<Measurement> records);
  /// What can be told once all is there.
  void end(const Results& all);

 private:
  [[nodiscard]] bool only_tables(const Results& all) const;

  const OutputOptions& output_;
  ResultPrinter printer_;
};

}  // namespace d5::app
