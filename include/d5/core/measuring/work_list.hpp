// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {

/// One item of a work list: a case, a model or a training.
struct WorkPiece {
  Measurement record = {};   ///< template of the record of a failure
  std::string name = {};     ///< empty: the subject's name; needed if pieces share a subject
  std::int64_t samples = 1;  ///< expected number of calls of `sampled` by `run`
  double most_seconds = std::numeric_limits<double>::infinity();  ///< time limit of sampling
  std::function<std::vector<Measurement>(const std::function<void()>& sampled)> run = {};
  std::function<std::vector<Measurement>()> plan = {};  ///< runs nothing
};

/// The piece's name in the journal and for filters.
[[nodiscard]] const std::string& name_of(const WorkPiece& piece);
/// The pieces whose names match the regular expression, at any position. Throws: ValueError for a
/// malformed expression, or if no name matches.
[[nodiscard]] std::vector<WorkPiece> matching(const std::vector<WorkPiece>& pieces,
                                              const std::string& expression);

struct WorkOptions {
  std::string what = {};  ///< title of progress lines: "op bench"; empty: no progress
  std::string how = {};   ///< options that all pieces share; a resumed run must have the same
  std::string out = {};   ///< results file, with a journal beside it (`ResultJournal`); empty: none
  bool resume = false;    ///< skips pieces that `out` or its journal already holds
  /// Another place receives all records, too: a full disk of `out` does not end the list.
  bool is_kept_elsewhere = false;
  /// Ends the list between pieces; within one, if the piece polls it too.
  Interrupt interrupt = {};
  /// Called after each piece, with its records, once they are on the disk; also for an interrupted
  /// piece.
  std::function<void(const std::vector<Measurement>&)> on_records = {};
};

/// Outcome of a work list.
struct WorkDone {
  Results results = {};
  bool whole = true;       ///< all pieces are done: no interrupt, no full disk
  bool bad_input = false;  ///< a piece of several could not be read or was misspelt
  bool written = false;    ///< `out` was written
  bool was_done = false;   ///< nothing was left to run: `out` holds all pieces
  /// Why some of `results` are neither in `out` nor in a journal.
  std::exception_ptr unwritten = {};
};

/// Runs all pieces in order and appends their records to a journal. If there are several pieces,
/// one that throws becomes a failed record and the others continue; one that does not fit into
/// memory is skipped.
///
///     std::vector<WorkPiece> pieces;
///     for (const auto& line : read_cases("cases.txt")) {
///       pieces.push_back({.record = {.subject = line.line},
///                         .run = [=](const auto&) { return bench(line.line); }});
///     }
///     const WorkDone done = run_work(pieces, {.out = "results.json", .resume = true});
///
/// Throws: ValueError for `resume` without `out`; what `ResultJournal` throws; what the only piece
/// throws.
[[nodiscard]] WorkDone run_work(const std::vector<WorkPiece>& pieces,
                                const WorkOptions& options = {});
/// The records that each piece would measure, from its `plan`. Throws: as `run_work`.
[[nodiscard]] WorkDone plan_work(
    const std::vector<WorkPiece>& pieces,
    const std::function<void(const std::vector<Measurement>&)>& on_records = {});

/// Calls `check` for each framework and returns the records that it adds, up to an interrupt. If
/// there are several frameworks, one that throws yields `record`, failed. `sampled` is called after
/// each. Throws: errors of bad input directly.
[[nodiscard]] std::vector<Measurement> check_each(
    const std::vector<std::string>& frameworks, const Measurement& record,
    const std::function<void()>& sampled,
    const std::function<void(const std::string& framework, std::vector<Measurement>&)>& check);

}  // namespace d5
