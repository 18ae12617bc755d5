// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/results/result_comparison.hpp"

namespace d5 {

/// Whether B stays within a limit: at most `limit` times as bad as A, whatever the direction.
struct GateFinding {
  enum class Answer {
    held,       ///< the whole interval is within
    broken,     ///< the whole interval is beyond
    undecided,  ///< noise, or what is mistrusted, hides the answer: nothing that passes
  };
  Answer answer = Answer::held;
  std::string subject = {};  ///< what was judged: "Gemm 8x8 8x8 torch time"
  std::string reason = {};   ///< of every answer but held; never empty there
};

/// Judges a ratio that was measured interleaved (`ratio_record`), by its interval at `confidence`.
[[nodiscard]] GateFinding judge(const Measurement& ratio, double limit, double confidence = 0.95);

/// Judges what `match_results` pairs: what a run costs (time, energy, bytes, counts), and all
/// else of which samples give an interval. A cost of `a` that `b` has not, or could not measure,
/// is undecided; so is the whole if there is nothing to judge.
[[nodiscard]] std::vector<GateFinding> judge(const ResultMatch& match, double limit);
[[nodiscard]] inline std::vector<GateFinding> judge(const Results& a, const Results& b,
                                                    double limit) {
  return judge(match_results(a, b), limit);
}

struct GateOptions {
  double limit = 1.05;
  int retries = 0;
  Interrupt interrupt = {};  ///< ends retrying
  /// Called before each retry, from 1 on, with what the try before found.
  std::function<void(const GateFinding& finding, int retry, int samples)> before_retry = {};
};
struct GatedRecords {
  std::vector<Measurement> records;  ///< of the last try
  GateFinding finding = {};
};

/// Judges the ratio that `measure(samples)` measures (`measure_side_by_side`), and where it is
/// undecided measures again, with twice the samples each time. Its record becomes failed if the
/// gate is broken, and mistrusted with the reason if it stays undecided; so is a pair without
/// ratio.
///
/// Each try is judged at a confidence of 1 - 0.05 / (retries + 1): all of them together err no more
/// often than one at 95% (Bonferroni's inequality).
[[nodiscard]] GatedRecords measure_until_decided(
    const std::function<std::vector<Measurement>(int samples)>& measure, int samples,
    const GateOptions& options);

}  // namespace d5
