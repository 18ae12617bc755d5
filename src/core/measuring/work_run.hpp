// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/progress.hpp"
#include "d5/core/result_journal.hpp"
#include "d5/core/work_list.hpp"

namespace d5::detail {

/// A run over all pieces of work, and what it leaves behind.
class WorkRun {
 public:
  using OnRecords = std::function<void(const std::vector<Measurement>&)>;

  /// `pieces` outlive it.
  WorkRun(const std::vector<WorkPiece>& pieces, Interrupt interrupt, OnRecords on_records)
      : pieces_(pieces), interrupt_(std::move(interrupt)), on_records_(std::move(on_records)) {}

  /// Of results that are kept, before the first piece. `how`: what all pieces have in common.
  void open_journal(const std::string& out, const std::string& how, ResultJournal::Begin begin);
  /// Pieces that the journal has; the others, one after the other. `what` is of progress.
  void go(const std::string& what);
  void plan();
  /// Writes what there is.
  [[nodiscard]] WorkDone finish();

 private:
  using Run = std::function<std::vector<Measurement>()>;
  [[nodiscard]] bool go_on(const std::vector<std::string>& names);
  [[nodiscard]] std::vector<Measurement> records_of(const WorkPiece& one, const Run& run);
  [[nodiscard]] Measurement failure_of(const WorkPiece& one) const;
  [[nodiscard]] std::vector<Measurement> measured(const WorkPiece& one);
  [[nodiscard]] const std::vector<Measurement>* kept(const std::string& name) const;
  [[nodiscard]] bool write(const std::string& name, std::vector<Measurement> records);
  void keep_piece(const std::string& name, std::vector<Measurement> records);
  void keep(std::vector<Measurement> records);

  const std::vector<WorkPiece>& pieces_;
  const Interrupt interrupt_;
  const OnRecords on_records_;
  WorkDone done_{.results = {environment(), {}}};
  std::optional<Progress> progress_;
  std::optional<ResultJournal> journal_;
};

}  // namespace d5::detail
