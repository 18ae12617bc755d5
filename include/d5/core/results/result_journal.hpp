// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/core/results/results.hpp"

namespace d5 {

/// What a long run has measured so far, on the disk after each piece of its work, whatever ends the
/// run: `PATH.journal` beside the results file PATH, one line a piece. The results file is written
/// at the end, and the journal removed; the journal of a run that was cut short stays. A later run
/// goes on from it, or from the pieces that the results file tells (`Results::run`).
/// Format: docs/reference/file_formats.md, "Journal".
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
/// Where PATH is no file (/dev/stdout, a pipe) nothing is kept.
/// Throws: IoError with the system's reason, also where another run writes the same journal.
class ResultJournal {
 public:
  enum class Begin {
    anew,     ///< refuses to replace the journal of a run that was killed: it is its only record
    resumed,  ///< as far as there is one; a piece that was cut within its line is forgotten
  };
  enum class End { whole, cut_short };

  /// `how` is what the pieces have in common: options, machine. Throws: ValueError if what is there
  /// was made otherwise, tells no pieces, or may not be replaced; FormatError if it is no journal.
  ResultJournal(const std::string& path, const std::string& how, Begin begin);
  ~ResultJournal();
  ResultJournal(const ResultJournal&) = delete;
  ResultJournal& operator=(const ResultJournal&) = delete;

  [[nodiscard]] static std::string path_beside(const std::string& path) {
    return path + ".journal";
  }

  /// The records of a piece that is done; null if it is not.
  [[nodiscard]] const std::vector<Measurement>* find(const std::string& piece) const;
  /// Written when it returns. If it throws, the journal holds the pieces before.
  void add(const std::string& piece, std::vector<Measurement> records);
  /// Whether the results file holds all pieces that are done: nothing was added to it.
  [[nodiscard]] bool is_written() const { return from_results_ && size_ == 0; }
  /// Writes the results file, with the pieces that are done and that `results.run` does not tell:
  /// what was measured is not lost. A journal that is cut short stays, for a run that goes on.
  void finish(Results results, End end);

 private:
  void close() const;
  void replace() const;
  void resume(const std::string& how);
  void resume_results_file(const std::string& how);
  /// After what is unwritten.
  void append(const std::string& line);
  void add_others(Results& results) const;

  std::string path_, journal_;
  int file_ = -1;  ///< none where nothing is kept
  bool from_results_ = false;
  std::string unwritten_;  ///< lines that stand before the first that is added
  std::int64_t size_ = 0;
  std::map<std::string, std::vector<Measurement>> done_;
};

}  // namespace d5
