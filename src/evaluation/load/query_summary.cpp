// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/query_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "d5/core/statistics.hpp"
#include "d5/evaluation/steady_state.hpp"

namespace d5 {
namespace {

constexpr double kNanosecond = 1e-9;

/// Calls `f(records of a query)` for each.
template <class F>
void for_each_query(const ScenarioResult& result, const F& f) {
  const std::span records(result.queries);
  const auto size = std::size_t(result.samples_per_query);
  for (std::size_t i = 0; i < records.size(); i += size) {
    f(records.subspan(i, std::min(size, records.size() - i)));
  }
}

Measurement record_of(const char* metric, const char* unit, Quantity quantity,
                      std::vector<double> samples, Statistic statistic) {
  Measurement record;
  record.level = "evaluation";
  record.metric = metric;
  record.unit = unit;
  record.quantity = quantity;
  record.statistic = statistic;
  record.samples = std::move(samples);
  return record;
}

Statistic percentile_of(double q) { return {.of = Statistic::Of::quantile, .quantile = q}; }

void add_measurements(ScenarioResult& result) {
  auto& records = result.measurements;
  const std::vector<double> latencies = query_latencies(result);
  std::vector<double> percentiles = {result.percentile};
  for (const double q : {0.5, 0.9, 0.99}) {
    if (q != result.percentile) percentiles.push_back(q);
  }
  for (const double q : percentiles) {
    records.push_back(record_of("latency", "s", Quantity::time, latencies, percentile_of(q)));
  }
  Measurement rate = record_of("throughput", "sample/s", Quantity::rate, {throughput(result)},
                               {.of = Statistic::Of::single});
  rate.direction = Direction::higher_is_better;
  records.push_back(std::move(rate));
  if (result.latency_from == LatencyFrom::schedule) {
    records.push_back(
        record_of("lag", "s", Quantity::time, query_lags(result), percentile_of(0.99)));
  }
  std::vector<double> batches;
  for (const QueryRecord& query : result.queries) {
    if (query.ended) batches.push_back(query.batch);
  }
  if (std::ranges::any_of(batches, [](double batch) { return batch > 1; })) {
    Measurement batch = record_of("batch", "sample", Quantity::count, std::move(batches),
                                  {.of = Statistic::Of::mean});
    batch.direction = Direction::neither;
    records.push_back(std::move(batch));
  }
}

/// What is doubtful about a run that is valid.
void look_for_doubts(ScenarioResult& result) {
  const std::vector<double> latencies = query_latencies(result);
  if (latencies.empty()) return;
  const auto settled = steady_from(latencies);
  result.conditions["steady_from"] = settled ? fmt::format("query {}", *settled) : "never";
  std::string doubt;
  if (!settled) doubt = "latency had not settled by the middle of the run";
  if (result.latency_from == LatencyFrom::schedule) {
    // A tenth: then more than a tenth of what is told of the system is the generator's.
    const auto lag = estimate(query_lags(result), percentile_of(0.99));
    const auto latency = estimate(latencies, percentile_of(0.99));
    if (lag.value > latency.value / 10) {
      doubt += fmt::format("{}queries were asked late: lag p99 {:.3g} s of a latency p99 {:.3g} s",
                           doubt.empty() ? "" : "; ", lag.value, latency.value);
    }
  }
  if (doubt.empty() || result.status != Status::passed) return;
  result.status = Status::mistrusted;
  result.reason = doubt;
}

void check_objective(ScenarioResult& result, const ScenarioOptions& options) {
  if (options.latency_seconds <= 0) return;
  result.conditions["objective"] = fmt::format(
      "{} <= {:.6g} s", to_string(percentile_of(result.percentile)), options.latency_seconds);
  // A query without an answer is later than any.
  std::vector<double> latencies = query_latencies(result);
  const auto answered = latencies.size();
  std::size_t queries = 0;
  for_each_query(result, [&](auto) { ++queries; });
  latencies.resize(queries, std::numeric_limits<double>::infinity());
  if (answered == 0) return detail::invalidate(result, "no query has an answer");
  const Estimate found = estimate(latencies, percentile_of(result.percentile));
  if (!(found.value <= options.latency_seconds)) {
    detail::invalidate(result,
                       fmt::format("latency {} is {:.6g} s, above the objective of {:.6g} s",
                                   to_string(percentile_of(result.percentile)), found.value,
                                   options.latency_seconds));
  }
}

}  // namespace

std::vector<double> query_latencies(const ScenarioResult& result) {
  std::vector<double> latencies;
  for_each_query(result, [&](std::span<const QueryRecord> query) {
    std::int64_t end = 0;
    for (const QueryRecord& sample : query) {
      if (!sample.ended) return;
      end = std::max(end, sample.ended);
    }
    const bool scheduled = result.latency_from == LatencyFrom::schedule;
    const std::int64_t from = scheduled ? query[0].scheduled : query[0].issued;
    latencies.push_back(double(end - from) * kNanosecond);
  });
  return latencies;
}

std::vector<double> query_lags(const ScenarioResult& result) {
  std::vector<double> lags;
  for_each_query(result, [&](std::span<const QueryRecord> query) {
    lags.push_back(double(query[0].issued - query[0].scheduled) * kNanosecond);
  });
  return lags;
}

double throughput(const ScenarioResult& result) {
  std::int64_t answered = 0, end = 0;
  for (const QueryRecord& query : result.queries) {
    if (!query.ended || query.status != Status::passed) continue;
    ++answered;
    end = std::max(end, query.ended);
  }
  if (answered == 0) return std::numeric_limits<double>::quiet_NaN();
  const QueryRecord& first = result.queries.front();
  const bool scheduled = result.latency_from == LatencyFrom::schedule;
  return double(answered) /
         (double(end - (scheduled ? first.scheduled : first.issued)) * kNanosecond);
}

namespace detail {

void invalidate(ScenarioResult& result, const std::string& reason) {
  result.reason = result.status == Status::failed ? result.reason + "; " + reason : reason;
  result.status = Status::failed;
}

void conclude(ScenarioResult& result, const ScenarioOptions& options) {
  using Mode = ScenarioOptions::Mode;
  if (options.percentile > 0) result.percentile = options.percentile;
  result.conditions["mode"] = options.mode == Mode::accuracy ? "accuracy" : "performance";
  result.conditions["latency_from"] =
      result.latency_from == LatencyFrom::schedule ? "schedule" : "issue";
  check_objective(result, options);
  if (options.mode == Mode::performance) look_for_doubts(result);
  add_measurements(result);
  for (Measurement& record : result.measurements) {
    record.conditions = result.conditions;
    record.status = result.status;
    record.reason = result.reason;
  }
}

}  // namespace detail

}  // namespace d5
