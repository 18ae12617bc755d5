// SPDX-License-Identifier: Apache-2.0
#include "evaluation/scenario/peak_objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "evaluation/load/load_record.hpp"
#include "evaluation/load/token_metrics.hpp"

namespace d5 {

std::string_view name_of(PeakObjective::Of of) {
  constexpr std::array<std::string_view, 7> kNames = {"latency", "ttft", "ttfa",      "tpot",
                                                      "stall",   "itl",  "attainment"};
  return kNames.at(std::size_t(of));
}

namespace detail {
namespace {

using Of = PeakObjective::Of;
using Verdict = PeakStep::Verdict;

bool is_of_tokens(Of of) { return of != Of::latency && of != Of::attainment; }

/// One number a query, in the order of issue.
std::vector<double> samples_of(const ScenarioResult& result, Of of) {
  if (of == Of::itl) return {};
  if (of == Of::latency) return query_latencies(result);
  if (of == Of::attainment) {
    const std::vector<bool> kept = kept_limits(result);
    return {kept.begin(), kept.end()};
  }
  TokenTimes times = token_times(result);
  if (of == Of::ttft) return std::move(times.ttft);
  if (of == Of::ttfa) return std::move(times.ttfa);
  return of == Of::tpot ? std::move(times.tpot) : std::move(times.stall);
}

/// The gaps of the answers after the first half of them.
std::vector<TokenGap> second_half(std::vector<TokenGap> gaps) {
  std::size_t answers = 0;
  for (const TokenGap& gap : gaps) answers = std::max(answers, gap.answer + 1);
  std::erase_if(gaps, [&](const TokenGap& gap) { return gap.answer < answers / 2; });
  return gaps;
}

double of_second_half(const ScenarioResult& result, const PeakObjective& objective,
                      const Measurement& number) {
  if (objective.of == Of::itl) {
    return token_quantile(second_half(token_gaps(result)), objective.percentile);
  }
  const auto half = std::span(number.samples).subspan(number.samples.size() / 2);
  return estimate(half, number.statistic).value;
}

}  // namespace

std::int64_t least_queries(const PeakObjective& objective) {
  constexpr double kBeyond = 10;
  if (objective.of == Of::itl) return 100;  // tokens are many, answers draw the interval
  const double share = objective.of == Of::attainment ? objective.limit : objective.percentile;
  return share < 1 ? std::int64_t(std::ceil(kBeyond / (1 - share))) : 0;
}

void expect_valid(const PeakObjective& objective, const AnswerLimits& limits) {
  const bool is_share = objective.of == Of::attainment;
  if (!(objective.limit > 0) || !(objective.percentile > 0 && objective.percentile < 1) ||
      (is_share && objective.limit >= 1)) {
    throw ValueError(fmt::format(
        "find peak: objective {} has percentile {} and limit {}, expected a percentile between 0 "
        "and 1, and a limit above 0; an attainment below 1",
        name_of(objective.of), objective.percentile, objective.limit));
  }
  if (!is_share || limits.any()) return;
  throw ValueError(
      "find peak: the objective is an attainment, but no limit of a good answer is given, expected "
      "ttft_limit, tpot_limit or latency_limit");
}

Measurement number_of(const ScenarioResult& result, const PeakObjective& objective) {
  const Of of = objective.of;
  if (of == Of::itl) {
    if (const auto gaps = token_gaps(result); !gaps.empty()) {
      return gap_record(gaps, objective.percentile);
    }
  }
  std::vector<double> samples = samples_of(result, of);
  if (of != Of::attainment) {
    return record_of(std::string(name_of(of)), "s", Quantity::time, std::move(samples),
                     percentile_of(objective.percentile));
  }
  Measurement share = record_of("attainment", "1", Quantity::share, std::move(samples),
                                {.of = Statistic::Of::share});
  share.direction = Direction::higher_is_better;
  return share;
}

Verdict verdict_of(const ScenarioResult& result, const PeakObjective& objective,
                   const Measurement& number) {
  if (is_of_tokens(objective.of) && result.pieces.empty()) {
    throw Unsupported(fmt::format(
        "find peak: the objective is of {}, but the system reports no tokens; limit its "
        "latency",
        name_of(objective.of)));
  }
  if (number.samples.empty()) {
    // Answers of one token each: nobody waits for a second.
    return is_of_tokens(objective.of) ? Verdict::holds : Verdict::misses;
  }
  const Interval interval = estimate(number).interval;
  const double half = of_second_half(result, objective, number);
  if (objective.of == Of::attainment) {
    if (interval.high < objective.limit) return Verdict::misses;
    const bool holds = interval.low >= objective.limit && half >= objective.limit;
    return holds ? Verdict::holds : Verdict::undecided;
  }
  if (interval.low > objective.limit) return Verdict::misses;
  const bool holds = interval.high <= objective.limit && half <= objective.limit;
  return holds ? Verdict::holds : Verdict::undecided;
}

}  // namespace detail
}  // namespace d5
