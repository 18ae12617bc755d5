// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/results/result_comparison.hpp"

namespace d5 {

/// Whether B is at most `limit` times as bad as A, for either direction of a metric.
struct GateFinding {
  enum class Answer {
    held,       ///< the whole interval is within the limit
    broken,     ///< the whole interval is beyond the limit
    undecided,  ///< noise or a mistrusted record hides the answer; does not pass
  };
  Answer answer = Answer::held;
  std::string subject = {};  ///< the judged measurement: "Gemm 8x8 8x8 torch time"
  std::string reason = {};   ///< empty if and only if held
  std::string metric = {};   ///< last word of `subject`; empty if it is no measurement
};

/// Judges an interleaved ratio (`ratio_record`) by its interval at `confidence`.
[[nodiscard]] GateFinding judge(const Measurement& ratio, double limit, double confidence = 0.95);

/// Judges the pairs of `match_results`: costs of a run (time, energy, bytes, counts), and
/// everything else whose samples give an interval. A cost of `a` that is missing or unmeasured in
/// `b` is undecided. Ratios of interleaved subjects are judged if there is nothing else, because
/// they also grow if their base becomes faster. If there is nothing to judge, the whole is
/// undecided.
[[nodiscard]] std::vector<GateFinding> judge(const ResultMatch& match, double limit);
[[nodiscard]] inline std::vector<GateFinding> judge(const Results& a, const Results& b,
                                                    double limit) {
  return judge(match_results(a, b), limit);
}

/// What was not held, in words. Metrics of a case with the same answer and reason are one line; so
/// are all that are mistrusted.
struct GateText {
  /// "cannot tell: Gemm 8x8 8x8 torch time, flop_rate: mistrusted [1,2]"; a finding alone has its
  /// reason in the line.
  std::vector<std::string> findings = {};
  std::vector<std::string> notes = {};  ///< "[1] A is mistrusted: the samples drift"
};
[[nodiscard]] GateText text_of(const std::vector<GateFinding>& findings);

struct GateOptions {
  double limit = 1.05;
  int retries = 0;
  Interrupt interrupt = {};  ///< ends the retries
  /// Called before each retry, counted from 1, with the previous finding.
  std::function<void(const GateFinding& finding, int retry, int samples)> before_retry = {};
};
struct GatedRecords {
  std::vector<Measurement> records;  ///< the last try's
  GateFinding finding = {};
};

/// Judges the ratio in the records of `measure(samples)` (see `measure_side_by_side`). While it is
/// undecided, measures again with twice the samples. The ratio's record is failed if the gate is
/// broken, and mistrusted, with the reason, if it stays undecided; so is a pair without a ratio.
///
/// Each try is judged at a confidence of 1 - 0.05 / (retries + 1). By Bonferroni's inequality, all
/// tries together err at most as often as one at 95%.
[[nodiscard]] GatedRecords measure_until_decided(
    const std::function<std::vector<Measurement>(int samples)>& measure, int samples,
    const GateOptions& options);

}  // namespace d5
