// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/results/environment.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/screen/screen.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// A run of many pieces (cases or models): the data from which a later run resumes. The pieces'
/// records come first in the file, in order; records of an interrupted piece may follow.
struct PiecewiseRun {
  struct Piece {
    std::string name = {};
    std::size_t records = 0;
    bool operator==(const Piece&) const = default;
  };
  std::string how = {};            ///< shared by all pieces: options, machine
  std::vector<Piece> pieces = {};  ///< the finished ones
  bool operator==(const PiecewiseRun&) const = default;
};

/// Content of a results file. Format: docs/reference/file_formats.md, "Results"; `schema` is its
/// version.
struct Results {
  static constexpr int kSchema = 3;
  Environment environment;
  std::vector<Measurement> measurements;
  std::optional<PiecewiseRun> run = {};  ///< set for a run of pieces
};

/// Reads a results file, of schema 1 too. Throws: IoError; FormatError (position, found, expected;
/// newer schemas are refused).
[[nodiscard]] Results read_results(const std::string& path);
/// Writes a results file atomically (`write_file`). Throws: IoError.
void write_results(const Results& results, const std::string& path);
[[nodiscard]] std::string to_json(const Results& results);
/// JSON Lines: one object per measurement, as in the file, with the environment's `time` and
/// `hostname`.
[[nodiscard]] std::string to_jsonl(const Results& results);
/// `file` is the name in error messages.
[[nodiscard]] Results results_from_json(const std::string& text, const std::string& file);
/// CSV (RFC 4180), one line per measurement, with statistics in SI units and full precision.
[[nodiscard]] std::string to_csv(const Results& results);
/// Google Benchmark's JSON (`--benchmark_format=json`), readable by its `compare.py benchmarks`: an
/// entry for each sample of a time, and its mean, median, stddev and cv.
[[nodiscard]] std::string to_gbench(const Results& results);

/// A table for people: scaled units, numbers rounded to the precision of their interval. Values
/// that all rows share are listed once above the table; varying ones, such as the rank, are
/// columns. Reasons are numbered footnotes.
[[nodiscard]] std::string to_table(const std::vector<Measurement>& measurements,
                                   Screen screen = {});
/// The table in GitHub's Markdown.
[[nodiscard]] std::string to_markdown(const std::vector<Measurement>& measurements);
/// `results` in `format`; `screen` applies to the table only. Throws: ValueError if there is
/// nothing to plot; Unsupported for `Format::png` without librsvg.
[[nodiscard]] std::string to_text(const Results& results, Format format, Screen screen = {});

/// "a / b = 1.031 [1.020, 1.045], rank test p = 3.2e-05, 30 pairs: a is higher".
[[nodiscard]] std::string to_string(const Comparison& comparison, const std::string& a,
                                    const std::string& b);

enum class IfUnsupported { fail, allow };
/// 1 if any measurement failed, or is unsupported and that is not allowed; 0 otherwise.
[[nodiscard]] int exit_status(const std::vector<Measurement>& measurements,
                              IfUnsupported if_unsupported = IfUnsupported::fail);

/// "1.25 ms", "3.40 MB", "12.1 Gflop/s", "0.0125" for unit "1": three significant digits, SI
/// prefix.
[[nodiscard]] std::string with_prefix(double value, const std::string& unit);

}  // namespace d5
