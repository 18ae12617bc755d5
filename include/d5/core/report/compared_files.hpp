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
  std::vector<std::string> metrics = {};  ///< compare only these; empty: all
  double fail_above = 0;                  ///< limit of the gate (`judge`); 0: none
};

/// Comparison of two results files: B against A.
///
///     const ComparedFiles both = compare_files("old.json", "new.json", {.fail_above = 1.05});
///     std::cout << to_text(both, Format::table);
///     return both.holds() ? 0 : 1;
struct ComparedFiles {
  Report report;  ///< both files as sources, their common measurements as pairs
  std::vector<ResultDifference> differences;  ///< including machine, processor and compiler
  std::vector<MissingResult> missing;
  std::vector<GateFinding> findings;  ///< the gate's; empty without a gate

  [[nodiscard]] bool holds() const;
};

/// Throws: IoError, FormatError for a bad file; NotFound for a metric in neither file; ValueError
/// without any common measurement.
[[nodiscard]] ComparedFiles compare_files(const std::string& a, const std::string& b,
                                          const FileComparisonOptions& options = {});

/// Notes for the reader, one line each: "A and B differ in threads: 1 and 2", "2 of A's records are
/// not compared: ...".
[[nodiscard]] std::vector<std::string> notes_of(const ComparedFiles& files);

/// The table of pairs, `width` columns wide, or the report if the format is drawn. Throws: as the
/// `to_text` of these.
[[nodiscard]] std::string to_text(const ComparedFiles& files, Format format, int width = 0);

}  // namespace d5
