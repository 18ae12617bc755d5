// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// What the records of `judge_source` say of one source together.
struct SourceVerdict {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  std::string source = {};  ///< name of its file
  std::string sha256 = {};
  int cases = 0, right_cases = 0, failed_cases = 0;  ///< a pass is a case
  /// The framework that its times are divided by; empty: none.
  std::string base = {};
  /// Geometric mean over the cases of time by the base's time, with its 95% interval for these very
  /// cases; NaN without a base, and for a source that is not right.
  double ratio = kUnknown;
  Interval interval = {kUnknown, kUnknown};
  /// Geometric mean of the time by the machine's floor (`machine_peak`); NaN if unknown for a case.
  double times_floor = kUnknown;
  /// Why a case is not right, or its number doubted: "MatMul 2x3 3x2 forward: wrong answer: ...".
  std::vector<std::string> reasons = {};

  /// Whether every answer of every case was right.
  [[nodiscard]] bool right() const { return cases > 0 && right_cases == cases; }
  /// "right", "wrong", or "incomplete" if cases could not be judged.
  [[nodiscard]] std::string_view word() const {
    return right() ? "right" : failed_cases > 0 ? "wrong" : "incomplete";
  }
};

/// A verdict for each source and base in records of `judge_source`, in the order of the records.
///
///     const auto verdicts = verdicts_of(judge_source("matmul.cpp", cases, {.against =
///     {"torch"}}));
///
/// The interval is the median's over rounds: round i is the geometric mean of each case's i-th
/// ratio. It says how precisely these cases were measured, not how others would come out.
[[nodiscard]] std::vector<SourceVerdict> verdicts_of(const std::vector<Measurement>& records);

/// The verdicts as a table, right sources first, the fastest at the top:
///
///     source      verdict  right   time ratio  95% interval    base       times floor  reason
///     tiled.cpp   right    3 of 3       0.412  [0.405, 0.420]  reference         2.31
///     lazy.cpp    wrong    0 of 3           –  –               reference            –  MatMul ...
///
/// A source that was judged on other cases than the first has that as a reason. A star marks a
/// doubted number.
/// Throws: ValueError without a record of `judge_source`.
[[nodiscard]] TextTable judge_board(const std::vector<Measurement>& records);

}  // namespace d5
