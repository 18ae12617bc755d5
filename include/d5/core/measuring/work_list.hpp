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

/// One of many cases, models or trainings that are gone through: a part of the work, by its name.
struct WorkPiece {
  Measurement record = {};   ///< what a failure is written into
  std::string name = {};     ///< where pieces have one subject; otherwise that is its name
  std::int64_t samples = 1;  ///< how often `run` will call `sampled`, about
  double most_seconds = std::numeric_limits<double>::infinity();  ///< of sampling
  std::function<std::vector<Measurement>(const std::function<void()>& sampled)> run = {};
  std::function<std::vector<Measurement>()> plan = {};  ///< runs nothing
};

/// Within the journal, and for a filter.
[[nodiscard]] const std::string& name_of(const WorkPiece& piece);
/// Those in whose names the regular expression is found. Throws: ValueError for one that is none,
/// and if it is found in no name.
[[nodiscard]] std::vector<WorkPiece> matching(const std::vector<WorkPiece>& pieces,
                                              const std::string& expression);

struct WorkOptions {
  std::string what = {};  ///< of lines of progress: "op bench"; empty: none
  std::string how = {};   ///< options that all pieces share, which a run that goes on must have
  std::string out = {};   ///< results file, with a journal beside it (`ResultJournal`); empty: none
  bool resume = false;    ///< what `out`, or its journal, holds is not run again
  Interrupt interrupt = {};  ///< ends it between pieces; within one, if that heeds it as well
  /// Called after each piece with its records, once they are on the disk, and with those of one
  /// that was interrupted.
  std::function<void(const std::vector<Measurement>&)> on_records = {};
};

/// What became of all pieces.
struct WorkDone {
  Results results = {};
  bool whole = true;                  ///< all are done: no interrupt, no full disk
  bool bad_input = false;             ///< one of several could not be read or was misspelt
  bool written = false;               ///< `out` was
  bool was_done = false;              ///< nothing was left to run: `out` holds them all
  std::exception_ptr unwritten = {};  ///< why some of `results` are neither there nor in a journal
};

/// Runs them, one after the other, and keeps the records of each in a journal as they come. Where
/// there are several, one that throws becomes a failed record and ends nothing; what does not fit
/// into memory is skipped.
///
///     std::vector<WorkPiece> pieces;
///     for (const auto& line : read_cases("cases.txt")) {
///       pieces.push_back({.record = {.subject = line.line},
///                         .run = [=](const auto&) { return bench(line.line); }});
///     }
///     const WorkDone done = run_work(pieces, {.out = "results.json", .resume = true});
///
/// Throws: ValueError to resume without `out`; what `ResultJournal` throws; what a single piece
/// throws.
[[nodiscard]] WorkDone run_work(const std::vector<WorkPiece>& pieces,
                                const WorkOptions& options = {});
/// What each would measure, by its `plan`. Throws: as `run_work`.
[[nodiscard]] WorkDone plan_work(
    const std::vector<WorkPiece>& pieces,
    const std::function<void(const std::vector<Measurement>&)>& on_records = {});

/// What `check` adds for each framework, up to an interrupt: what it added before stands. Of
/// several frameworks one that throws is `record`, failed. `sampled` is called after each.
/// Throws: what is bad input as it comes.
[[nodiscard]] std::vector<Measurement> check_each(
    const std::vector<std::string>& frameworks, const Measurement& record,
    const std::function<void()>& sampled,
    const std::function<void(const std::string& framework, std::vector<Measurement>&)>& check);

}  // namespace d5
