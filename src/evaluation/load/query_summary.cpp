// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/query_summary.hpp"

#include <algorithm>
#include <limits>
#include <span>

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

}  // namespace d5
