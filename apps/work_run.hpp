// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/work_list.hpp"
#include "d5/core/progress.hpp"
#include "d5/core/result_journal.hpp"
#include "d5/core/result_printer.hpp"

namespace d5::app {

/// A run over all pieces of work, and what it leaves behind. Where there are several, one that
/// throws is a failed record and ends nothing.
class WorkRun {
 public:
  /// Both outlive it.
  WorkRun(const std::vector<Work>& work, const OutputOptions& output);

  /// Of results that are kept, before the first piece. `how`: what all pieces have in common.
  void open_journal(const std::string& how, ResultJournal::Begin begin);
  /// Pieces that the journal has; the others, one after the other. Returns whether all are done.
  bool go(const std::string& what);
  void plan();
  /// Writes and prints what there is. Returns the exit status.
  /// Throws: IoError for results that could not be written.
  int finish(bool whole);

 private:
  using Run = std::function<std::vector<Measurement>()>;
  [[nodiscard]] std::vector<Measurement> records_of(const Work& one, const Run& run);
  [[nodiscard]] Measurement failure_of(const Work& one) const;
  [[nodiscard]] std::vector<Measurement> measured(const Work& one, Progress& progress);
  [[nodiscard]] bool write(const std::string& name, std::vector<Measurement> records,
                           Progress& progress);
  void keep_piece(const std::string& name, std::vector<Measurement> records, Progress& progress);
  void keep(std::vector<Measurement> records);
  void print_rows(std::vector<Measurement> records);
  [[nodiscard]] bool only_tables() const;
  void say_nothing_is_left() const;

  const std::vector<Work>& work_;
  const OutputOptions& output_;
  Results results_{environment(), {}};
  ResultPrinter printer_;
  std::optional<ResultJournal> journal_;
  std::exception_ptr lost_;
  bool bad_input_ = false;
};

}  // namespace d5::app
