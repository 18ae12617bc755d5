// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "d5/evaluation/load/scenario.hpp"

namespace d5 {

/// Latencies of completely answered queries, in s, in the order of issue; a query ends with its
/// last sample.
[[nodiscard]] std::vector<double> query_latencies(const ScenarioResult& result);
/// Delay of each query's issue after its scheduled time, in s: the generator's own contribution.
[[nodiscard]] std::vector<double> query_lags(const ScenarioResult& result);
/// Answered samples/s, from the start of the schedule to the last answer; NaN without answers.
[[nodiscard]] double throughput(const ScenarioResult& result);

/// Numbers of the answers that came in pieces, each in s, in the order of issue; an answer for
/// which one is undefined has none.
struct TokenTimes {
  /// Time to the first token (TTFT), from the same moment as latency to the first piece with
  /// tokens; and to the first such piece that is no reasoning.
  std::vector<double> ttft = {}, ttfa = {};
  /// Time per output token (TPOT) after the first piece: (last - first) / (tokens - tokens of the
  /// first piece). Undefined for one piece.
  std::vector<double> tpot = {};
  /// The longest gap between two pieces with tokens. Undefined for one piece.
  std::vector<double> stall = {};
};
[[nodiscard]] TokenTimes token_times(const ScenarioResult& result);

/// Whether each query kept all limits, in the order of issue.
[[nodiscard]] std::vector<bool> kept_limits(const ScenarioResult& result);

/// Inter-token latencies (ITL) of a run. A gap is the time between two successive pieces of one
/// answer, both with tokens; each token of the second piece waited gap / tokens of that piece.
struct TokenGap {
  double seconds = 0;       ///< wait of one token
  std::int64_t tokens = 0;  ///< number that waited so long
  std::size_t answer = 0;   ///< number of its answer, among those with gaps
};
/// Sorted by `seconds`.
[[nodiscard]] std::vector<TokenGap> token_gaps(const ScenarioResult& result);
/// The quantile of sorted gaps over tokens: the least gap that at least the share `q` of the
/// tokens, from 0 to 1, do not exceed. NaN without gaps.
[[nodiscard]] double token_quantile(std::span<const TokenGap> gaps, double q);

}  // namespace d5
