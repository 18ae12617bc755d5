// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/report.hpp"
#include "d5/core/results/gate.hpp"
#include "d5/core/results/result_comparison.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

struct FileComparisonOptions {
  std::vector<std::string> metrics = {};  ///< these alone; empty: all
  double fail_above = 0;                  ///< limit of the gate (`judge`); 0: none
};

/// Two results files, B held against A.
///
///     const ComparedFiles both = compare_files("old.json", "new.json", {.fail_above = 1.05});
///     std::cout << to_text(both, Format::table);
///     return both.holds() ? 0 : 1;
struct ComparedFiles {
  Report report;                              ///< both as sources, and what both hold as pairs
  std::vector<ResultDifference> differences;  ///< also of machine, processor, compiler
  std::vector<MissingResult> missing;
  std::vector<GateFinding> findings;  ///< of the gate, if there is one

  [[nodiscard]] bool holds() const;
};

/// Throws: IoError, FormatError of the files; NotFound for a metric that neither has; ValueError if
/// there is no measurement that both hold.
[[nodiscard]] ComparedFiles compare_files(const std::string& a, const std::string& b,
                                          const FileComparisonOptions& options = {});

/// What a reader should know before the numbers, a line each: "A and B differ in threads: 1 and 2",
/// "2 of A's records are not compared: ...".
[[nodiscard]] std::vector<std::string> notes_of(const ComparedFiles& files);

/// The table of pairs, or where a format is drawn the report. `width` is of the table. Throws: as
/// `to_text` of these.
[[nodiscard]] std::string to_text(const ComparedFiles& files, Format format, int width = 0);

}  // namespace d5
