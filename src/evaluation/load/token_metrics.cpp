// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/token_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/results/record_estimate.hpp"
#include "core/statistics/bootstrap.hpp"
#include "d5/core/statistics/student.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "d5/evaluation/load/steady_state.hpp"
#include "evaluation/load/load_record.hpp"

namespace d5::detail {
namespace {

void add_percentiles(const char* metric, const std::vector<double>& samples,
                     std::span<const double> percentiles, std::vector<Measurement>& records) {
  if (samples.empty()) return;
  for (const double q : percentiles) {
    records.push_back(record_of(metric, "s", Quantity::time, samples, percentile_of(q)));
  }
}

/// The part of a run in which its load is steady, in ns: from the query at which latency had
/// settled to the last query's schedule. A run that asks all at once has no such part: it is taken
/// whole.
struct SteadyPart {
  std::int64_t from = 0, to = 0;
};

SteadyPart steady_part(const ScenarioResult& result) {
  const auto asked = [&](const QueryRecord& query) { return latency_begin(result, query); };
  SteadyPart part{.from = asked(result.queries.front()), .to = asked(result.queries.back())};
  if (!result.settles) {
    part.to = std::ranges::max(result.queries, {}, &QueryRecord::ended).ended;
  } else if (const auto settled = steady_from(query_latencies(result))) {
    const std::size_t first = *settled * std::size_t(result.samples_per_query);
    part.from = asked(result.queries[std::min(first, result.queries.size() - 1)]);
  }
  return part;
}

/// Output tokens/s of the steady part, with Student's interval of the means of its batches. Nothing
/// if no token came in it: the first answer may begin after the last query.
void add_output_rate(const ScenarioResult& result, std::vector<Measurement>& records) {
  constexpr std::size_t kBatches = 20;
  const auto [from, to] = steady_part(result);
  if (to <= from) return;
  std::vector<double> rates(kBatches);
  bool is_empty = true;
  const double length = double(to - from) / kBatches;  // ns of a batch
  for (const TokenPiece& piece : result.pieces) {
    if (piece.at < from || piece.at >= to) continue;
    is_empty = false;
    const auto batch = std::size_t(double(piece.at - from) / length);
    rates[std::min(batch, kBatches - 1)] += double(piece.tokens) / (length * kNanosecond);
  }
  if (is_empty) return;
  const Estimate mean = mean_with_interval(rates);
  Measurement record = record_of("output_rate", "token/s", Quantity::rate, {mean.value},
                                 {.of = Statistic::Of::single});
  record.direction = Direction::higher_is_better;
  set_interval(record, {std::max(0.0, mean.interval.low), mean.interval.high});
  records.push_back(std::move(record));
}

/// Half of the interval of the rate of queries over the rate, from the gaps between their ends. NaN
/// for fewer than three.
double rate_uncertainty(const ScenarioResult& result) {
  std::vector<double> ends;
  for (const QueryRecord& query : result.queries) {
    if (query.ended) ends.push_back(double(query.ended));
  }
  if (ends.empty()) return NAN;
  std::ranges::sort(ends);
  std::vector<double> gaps(ends.size());
  std::adjacent_difference(ends.begin(), ends.end(), gaps.begin());
  const Estimate gap = mean_with_interval(std::span(gaps).subspan(1));
  return (gap.interval.high - gap.interval.low) / 2 / gap.value;
}

/// The share of queries that kept their limits, and that share of the rate of queries. The rate was
/// drawn, too: its uncertainty and the share's are added by squares (Zou and Donner, "Construction
/// of confidence limits about effect measures", 2008).
void add_goodput(const ScenarioResult& result, std::vector<Measurement>& records) {
  const std::vector<bool> kept = kept_limits(result);
  Measurement share = record_of("attainment", "1", Quantity::share, {kept.begin(), kept.end()},
                                {.of = Statistic::Of::share});
  share.direction = Direction::higher_is_better;
  const auto limit = [&](const char* name, double seconds) {
    if (seconds > 0) share.conditions[name] = identity(seconds, "s");
  };
  limit("ttft limit", result.limits.ttft);
  limit("tpot limit", result.limits.tpot);
  limit("latency limit", result.limits.latency);
  const std::int64_t end = std::ranges::max(result.queries, {}, &QueryRecord::ended).ended;
  const double seconds = double(end - latency_begin(result, result.queries.front())) * kNanosecond;
  if (end > 0 && seconds > 0) {
    const double rate = double(kept.size()) / seconds;
    const Estimate of_share = estimate(share);
    Measurement goodput = share;
    goodput.metric = "goodput";
    goodput.unit = "query/s";
    goodput.quantity = Quantity::rate;
    goodput.statistic = {.of = Statistic::Of::single};
    goodput.samples = {of_share.value * rate};
    const double by_rate = of_share.value * rate_uncertainty(result);
    const double below = std::hypot(of_share.value - of_share.interval.low, by_rate);
    const double above = std::hypot(of_share.interval.high - of_share.value, by_rate);
    if (std::isfinite(by_rate)) {
      set_interval(goodput,
                   {rate * std::max(0.0, of_share.value - below), rate * (of_share.value + above)});
    }
    records.push_back(std::move(goodput));
  }
  records.push_back(std::move(share));
}

}  // namespace

/// Its interval: answers are drawn again to find how much the share of
/// tokens within the quantile varies, and the quantiles of the shares at both ends are taken.
Measurement gap_record(std::span<const TokenGap> gaps, double q) {
  const double value = token_quantile(gaps, q);
  Measurement record = record_of("itl", "s", Quantity::time, {value}, percentile_of(q));
  std::vector<double> within, all;  // tokens by answer
  for (const TokenGap& gap : gaps) {
    if (gap.answer >= all.size()) within.resize(gap.answer + 1), all.resize(gap.answer + 1);
    all[gap.answer] += double(gap.tokens);
    if (gap.seconds <= value) within[gap.answer] += double(gap.tokens);
  }
  const auto share_of = [&](std::span<const std::size_t> answers) {
    double inside = 0, of = 0;
    for (const std::size_t answer : answers) inside += within[answer], of += all[answer];
    return inside / of;
  };
  std::vector<std::size_t> each(all.size());
  std::iota(each.begin(), each.end(), std::size_t{0});
  const double share = share_of(each);
  const auto [low, high] = bootstrap_interval(all.size(), share_of);
  if (std::isnan(low)) return record;
  set_interval(record, {token_quantile(gaps, std::max(0.0, q - (high - share))),
                        token_quantile(gaps, std::min(1.0, q + (share - low)))});
  return record;
}

std::vector<Measurement> token_measurements(const ScenarioResult& result,
                                            std::span<const double> percentiles) {
  std::vector<Measurement> records;
  if (result.queries.empty()) return records;
  if (!result.pieces.empty()) {
    const TokenTimes times = token_times(result);
    add_percentiles("ttft", times.ttft, percentiles, records);
    if (times.ttfa != times.ttft) add_percentiles("ttfa", times.ttfa, percentiles, records);
    const std::vector<TokenGap> gaps = token_gaps(result);
    for (const double q : percentiles) {
      if (!gaps.empty()) records.push_back(gap_record(gaps, q));
    }
    add_percentiles("tpot", times.tpot, percentiles, records);
    add_percentiles("stall", times.stall, percentiles, records);
    std::vector<double> tokens;
    for (const QueryRecord& query : result.queries) {
      if (!query.ended || query.status != Status::passed) continue;  // no whole answer
      tokens.push_back(double(query.tokens));
    }
    Measurement length = record_of("output_tokens", "token", Quantity::count, std::move(tokens),
                                   {.of = Statistic::Of::mean});
    length.direction = Direction::neither;
    records.push_back(std::move(length));
    add_output_rate(result, records);
  }
  if (result.limits.any()) add_goodput(result, records);
  return records;
}

}  // namespace d5::detail
