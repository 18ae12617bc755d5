// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/conclusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "d5/evaluation/load/steady_state.hpp"
#include "evaluation/load/load_record.hpp"
#include "evaluation/load/token_metrics.hpp"

namespace d5::detail {
namespace {

using detail::percentile_of;
using detail::record_of;

void check_objective(ScenarioResult& result, const ScenarioOptions& options) {
  if (options.latency_seconds <= 0) return;
  const std::string which = to_string(percentile_of(result.percentile));
  result.conditions["objective"] =
      identity(fmt::format("{} <= {:.6g} s", which, options.latency_seconds));
  // A query without an answer counts as the latest.
  std::vector<double> latencies = query_latencies(result);
  if (latencies.empty()) return invalidate(result, "no query has an answer");
  const auto size = std::size_t(result.samples_per_query);
  latencies.resize((result.queries.size() + size - 1) / size,
                   std::numeric_limits<double>::infinity());
  const Estimate found = estimate(latencies, percentile_of(result.percentile));
  if (found.value <= options.latency_seconds) return;
  invalidate(result, fmt::format("latency {} is {:.6g} s, above the objective of {:.6g} s", which,
                                 found.value, options.latency_seconds));
}

/// Adds a reason to doubt a run that is not invalid; empty: none.
void add_doubt(ScenarioResult& result, const std::string& doubt) {
  if (doubt.empty() || result.status == Status::failed) return;
  result.reason += (result.status == Status::mistrusted ? "; " : "") + doubt;
  result.status = Status::mistrusted;
}

/// Reasons to doubt a valid run.
void look_for_doubts(ScenarioResult& result) {
  const std::vector<double> latencies = query_latencies(result);
  if (latencies.empty()) return;
  std::string doubt;
  if (result.settles) {
    const auto settled = steady_from(latencies);
    result.conditions["steady_from"] =
        finding(settled ? fmt::format("query {}", *settled) : "never");
    if (!settled) doubt = detail::kUnsettled;
  }
  if (result.latency_from == LatencyFrom::schedule) {
    // Beyond a tenth, more than a tenth of the reported latency is the generator's.
    const Estimate lag = estimate(query_lags(result), percentile_of(0.99));
    const Estimate latency = estimate(latencies, percentile_of(0.99));
    if (lag.value > latency.value / 10) {
      doubt += fmt::format("{}queries were asked late: lag p99 {:.3g} s of a latency p99 {:.3g} s",
                           doubt.empty() ? "" : "; ", lag.value, latency.value);
    }
  }
  add_doubt(result, doubt);
}

}  // namespace

void invalidate(ScenarioResult& result, const std::string& reason) {
  result.reason = result.status == Status::failed ? result.reason + "; " + reason : reason;
  result.status = Status::failed;
}

void take_log(QueryLog::Closed log, const ScenarioOptions& options, ScenarioResult& result) {
  const auto count = log.queries.size();
  result.queries = std::move(log.queries);
  result.pieces = std::move(log.pieces);
  result.answers = std::move(log.answers);
  if (log.unanswered > 0) {
    invalidate(result, fmt::format("{} of {} samples had no answer within {:g} s", log.unanswered,
                                   count, options.answer_seconds));
  }
  if (log.failed > 0) {
    invalidate(result, fmt::format("{} of {} samples failed, the first with: {}", log.failed, count,
                                   printable_message(log.reason)));
  }
  if (log.again > 0) {
    invalidate(result, fmt::format("{} answers came to samples that had one", log.again));
  }
  if (log.unasked > 0) {
    invalidate(result,
               fmt::format("{} answers came to queries that were never issued", log.unasked));
  }
  if (log.late_pieces > 0) {
    invalidate(result,
               fmt::format("{} pieces came to samples that had an answer", log.late_pieces));
  }
}

void take_report(const SystemReport& report, ScenarioResult& result) {
  result.conditions.insert(report.conditions.begin(), report.conditions.end());
  if (!report.fault.empty()) return invalidate(result, report.fault);
  add_doubt(result, report.doubt);
}

void check_deadline(const ScenarioOptions& options, ScenarioResult& result) {
  if (options.deadline_seconds <= 0) return;
  std::int64_t late = 0;
  for (QueryRecord& query : result.queries) {
    const std::int64_t from = latency_begin(result, query);
    if (!query.ended || double(query.ended - from) <= options.deadline_seconds * 1e9) continue;
    query.status = Status::failed;
    ++late;
  }
  if (late == 0) return;
  invalidate(result, fmt::format("{} of {} answers came after their deadline of {:g} s", late,
                                 result.queries.size(), options.deadline_seconds));
}

std::vector<Measurement> measurements_of(const ScenarioResult& result) {
  std::vector<Measurement> records;
  const std::vector<double> latencies = query_latencies(result);
  std::vector<double> percentiles = {result.percentile};
  for (const double q : {0.5, 0.9, 0.99}) {
    if (q != result.percentile) percentiles.push_back(q);
  }
  for (const double q : percentiles) {
    records.push_back(record_of("latency", "s", Quantity::time, latencies, percentile_of(q)));
  }
  const double answered = throughput(result);  // NaN without an answer
  Measurement rate =
      record_of("throughput", "sample/s", Quantity::rate, {}, {.of = Statistic::Of::single});
  if (!std::isnan(answered)) rate.samples = {answered};
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
  std::ranges::move(token_measurements(result, percentiles), std::back_inserter(records));
  for (Measurement& record : records) {
    record.conditions.insert(result.conditions.begin(), result.conditions.end());
    record.status = result.status;
    record.reason = result.reason;
  }
  return records;
}

void conclude(ScenarioResult& result, const ScenarioOptions& options) {
  const bool accuracy = options.mode == ScenarioOptions::Mode::accuracy;
  if (options.percentile > 0) result.percentile = options.percentile;
  result.limits = options.limits;
  result.conditions["seed"] = setting(options.seed);
  result.conditions["mode"] = identity(accuracy ? "accuracy" : "performance");
  result.conditions["latency_from"] =
      identity(result.latency_from == LatencyFrom::schedule ? "schedule" : "issue");
  check_objective(result, options);
  if (!accuracy) look_for_doubts(result);
  result.measurements = measurements_of(result);
}

}  // namespace d5::detail
