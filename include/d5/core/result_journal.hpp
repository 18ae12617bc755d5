// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/core/results.hpp"

namespace d5 {

/// What a long run has measured so far, on the disk after each piece of its work, whatever ends the
/// run: `PATH.journal` beside the results file PATH, one line a piece. The results file is written
/// at the end, and the journal removed; the journal of a run that was cut short stays, and a later
/// run goes on from it. Format: docs/file_formats.md, "Journal".
///
///     ResultJournal journal("results.json", "--samples 30", ResultJournal::Begin::resumed);
///     for (const auto& line : cases) {
///       if (!journal.find(line)) journal.add(line, bench(line));
///     }
///     journal.finish({environment(), all}, ResultJournal::End::whole);
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

  /// `how` is what the pieces have in common: options, machine. Throws: ValueError if the journal
  /// that is there was made otherwise, or may not be replaced; FormatError if it is none.
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
  /// Writes the results file. A journal that is cut short stays, for a run that goes on.
  void finish(const Results& results, End end);

 private:
  void read(const std::string& how, Begin begin);
  void append(const std::string& line);

  std::string path_, journal_;
  int file_ = -1;  ///< none where nothing is kept
  std::int64_t size_ = 0;
  std::map<std::string, std::vector<Measurement>> done_;
};

}  // namespace d5
