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

/// A run of many pieces, cases or models: what a later run needs to know that goes on from its
/// file. Their records come first, piece after piece; behind them may stand those of one that was
/// interrupted.
struct PiecewiseRun {
  struct Piece {
    std::string name = {};
    std::size_t records = 0;
    bool operator==(const Piece&) const = default;
  };
  std::string how = {};            ///< what all have in common: options, machine
  std::vector<Piece> pieces = {};  ///< those that are done
  bool operator==(const PiecewiseRun&) const = default;
};

/// What a results file holds. Format: docs/reference/file_formats.md, "Results"; `schema` is its
/// version.
struct Results {
  static constexpr int kSchema = 3;
  Environment environment;
  std::vector<Measurement> measurements;
  std::optional<PiecewiseRun> run = {};  ///< if it was one
};

/// Reads schema 1 too. Throws: IoError, FormatError (place, given, expected; newer schemas are
/// refused).
[[nodiscard]] Results read_results(const std::string& path);
/// Written to a temporary file beside `path`, then renamed. Throws: IoError.
void write_results(const Results& results, const std::string& path);
[[nodiscard]] std::string to_json(const Results& results);
/// JSON Lines: an object a measurement, as in the file, with the environment's `time` and
/// `hostname`.
[[nodiscard]] std::string to_jsonl(const Results& results);
/// `file` is the name for messages.
[[nodiscard]] Results results_from_json(const std::string& text, const std::string& file);
/// One line a measurement: RFC 4180, statistics in SI units, full precision.
[[nodiscard]] std::string to_csv(const Results& results);
/// What Google Benchmark writes with `--benchmark_format=json`, so that its `compare.py benchmarks`
/// reads it: an entry for each sample of a time, and its mean, median, stddev and cv.
[[nodiscard]] std::string to_gbench(const Results& results);

/// For people: units scaled, numbers rounded to what the interval supports. What is equal in all
/// rows is said once above them, what differs, such as the rank, are columns; each reason stands
/// once below, with a number that rows name.
[[nodiscard]] std::string to_table(const std::vector<Measurement>& measurements,
                                   Screen screen = {});
/// The same as a table of GitHub's Markdown.
[[nodiscard]] std::string to_markdown(const std::vector<Measurement>& measurements);
/// `results` as `format` says; `screen` is of the table alone. Throws: ValueError for a plot of
/// what has none; Unsupported for `Format::png` without librsvg.
[[nodiscard]] std::string to_text(const Results& results, Format format, Screen screen = {});

/// "a / b = 1.031 [1.020, 1.045], rank test p = 3.2e-05, 30 pairs: a is higher".
[[nodiscard]] std::string to_string(const Comparison& comparison, const std::string& a,
                                    const std::string& b);

enum class IfUnsupported { fail, allow };
/// 1 if any failed, or is unsupported where that is not allowed; 0 otherwise.
[[nodiscard]] int exit_status(const std::vector<Measurement>& measurements,
                              IfUnsupported if_unsupported = IfUnsupported::fail);

/// "1.25 ms", "3.40 MB", "12.1 Gflop/s", "0.0125" for unit "1": three significant digits, SI
/// prefix.
[[nodiscard]] std::string with_prefix(double value, const std::string& unit);

}  // namespace d5
