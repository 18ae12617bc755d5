// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/core/results/results.hpp"

namespace d5 {

/// Append-only journal of a long run: `PATH.journal` beside the results file PATH, one line per
/// finished piece of work, on the disk before the next begins. At the end the results file is
/// written and the journal removed; after an early end the journal stays. A later run resumes from
/// it, or from the pieces that the results file lists (`Results::run`). Format:
/// docs/reference/file_formats.md, "Journal".
///
///     ResultJournal journal("results.json", "--samples 30", ResultJournal::Begin::resumed);
///     Results all{environment(), {}, PiecewiseRun{"--samples 30"}};
///     for (const auto& line : cases) {
///       if (!journal.find(line)) journal.add(line, bench(line));
///       all.measurements.insert(...);  // journal.find(line)
///       all.run->pieces.push_back({line, journal.find(line)->size()});
///     }
///     journal.finish(all, ResultJournal::End::whole);
///
/// There is no journal if PATH is not a regular file (/dev/stdout, a pipe).
/// Throws: IoError with the system's reason, also if another run writes the same journal.
class ResultJournal {
 public:
  enum class Begin {
    anew,     ///< starts a new run; refuses to replace the journal of a killed one
    resumed,  ///< continues an existing journal; drops a truncated last line
  };
  enum class End { whole, cut_short };

  /// `how` describes what the pieces share: options, machine. Throws: ValueError if the existing
  /// file has another `how`, lists no pieces, or must not be replaced; FormatError if it is not a
  /// journal.
  ResultJournal(const std::string& path, const std::string& how, Begin begin);
  ~ResultJournal();
  ResultJournal(const ResultJournal&) = delete;
  ResultJournal& operator=(const ResultJournal&) = delete;

  [[nodiscard]] static std::string path_beside(const std::string& path) {
    return path + ".journal";
  }

  /// The records of a finished piece; null if it is unfinished.
  [[nodiscard]] const std::vector<Measurement>* find(const std::string& piece) const;
  /// Appends a piece; it is on the disk when the call returns. If it throws, the journal holds the
  /// earlier pieces.
  void add(const std::string& piece, std::vector<Measurement> records);
  /// Whether the results file already holds all finished pieces.
  [[nodiscard]] bool is_written() const { return from_results_ && size_ == 0; }
  /// Writes the results file, including finished pieces that `results.run` does not list, so that
  /// no measurement is lost. After an early end the journal stays, for a run that resumes.
  void finish(Results results, End end);

 private:
  void close() const;
  void replace() const;
  void resume(const std::string& how);
  void resume_results_file(const std::string& how);
  /// Writes `unwritten_` first.
  void append(const std::string& line);
  void add_others(Results& results) const;

  std::string path_, journal_;
  int file_ = -1;  ///< -1: no journal
  bool from_results_ = false;
  std::string unwritten_;  ///< lines to write before the first added one
  std::int64_t size_ = 0;
  std::map<std::string, std::vector<Measurement>> done_;
};

}  // namespace d5
