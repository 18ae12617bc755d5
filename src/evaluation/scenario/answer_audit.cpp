// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario/answer_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "evaluation/load/load_run.hpp"

namespace d5 {
namespace {

using Mode = ScenarioOptions::Mode;

Measurement audit_record(const char* metric, Quantity quantity, Statistic statistic) {
  Measurement record;
  record.level = "evaluation";
  record.metric = metric;
  record.unit = "1";
  record.quantity = quantity;
  record.statistic = statistic;
  return record;
}

void fail(Measurement& record, const std::string& reason) {
  record.status = Status::failed;
  record.reason = reason;
}

ScenarioOptions timed(const AuditOptions& options, std::int64_t queries) {
  ScenarioOptions run = options.run;
  run.mode = Mode::performance;
  run.least_queries = queries;
  run.most_queries = std::max(run.most_queries, queries);
  run.least_seconds = 0;
  run.latency_seconds = 0;
  run.keep_answers = 1;
  return run;
}

/// Asks one sample at a time, in turns a new one and the one before it again. Returns the times;
/// the answers are those of timed queries.
ScenarioResult ask_in_turns(SystemUnderTest& system, const AuditOptions& options,
                            std::int64_t samples, Measurement& record) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(system.samples()));
  std::iota(order.begin(), order.end(), 0);
  RandomStream(options.run.seed, stream_of("audit")).shuffle(order);
  detail::LoadRun run(system, timed(options, 2 * samples),
                      {.latency_from = LatencyFrom::issue, .chooses = true});
  for (std::int64_t turn = 0; turn < 2 * samples && run.wait_for(0); ++turn) {
    const std::int64_t i = turn / 2, again = std::max<std::int64_t>(i - 1, 0);
    run.ask_for(order[std::size_t(turn % 2 == 0 ? i : again)], run.now());
  }
  ScenarioResult result = run.end();
  if (result.status == Status::failed) {
    fail(record, result.reason);
    return result;
  }
  const std::vector<double> latencies = query_latencies(result);
  for (std::size_t i = 0; i + 1 < latencies.size(); i += 2) {
    record.samples.push_back(latencies[i + 1] / latencies[i]);
  }
  const Interval interval = quantile_interval(record.samples, 0.5, 0.999);
  if (interval.high < options.least_ratio) {
    fail(record, fmt::format("a repeated sample takes {:.3g} [{:.3g}, {:.3g}] of the time of a new "
                             "one: the system returns cached results",
                             estimate(record).value, interval.low, interval.high));
  }
  return result;
}

void compare_answers(SystemUnderTest& system, const AuditOptions& options,
                     const ScenarioResult& timed_run, Measurement& record) {
  ScenarioOptions run = options.run;
  run.mode = Mode::accuracy;
  run.latency_seconds = 0;
  const ScenarioResult accurate = scenarios().at("closed_loop").make()->run(system, run);
  for (const ScenarioResult* one : {&accurate, &timed_run}) {
    if (one->status == Status::failed) return fail(record, one->reason);
  }
  std::map<std::int64_t, const std::vector<std::byte>*> right;
  for (const KeptAnswer& answer : accurate.answers) right[answer.sample] = &answer.bytes;
  for (const KeptAnswer& answer : timed_run.answers) {
    const std::vector<std::byte>& expected = *right.at(answer.sample);
    const bool same =
        options.same ? options.same(answer.bytes, expected) : answer.bytes == expected;
    record.samples.push_back(same ? 0 : 1);
  }
  const auto is_first = [&](const KeptAnswer& answer) {
    return answer.bytes == accurate.answers.front().bytes;
  };
  if (!accurate.answers.empty() && std::ranges::all_of(accurate.answers, is_first)) {
    mistrust(record, fmt::format("all {} samples have the same answer{}: nothing was compared",
                                 accurate.answers.size(),
                                 accurate.answers.front().bytes.empty() ? ", an empty one" : ""));
  }
  const double differ = estimate(record).value;
  if (differ > options.most_different) {
    fail(
        record,
        fmt::format("{:.3g} of the answers differ from those of the accuracy run, more than {:.3g}",
                    differ, options.most_different));
  }
}

}  // namespace

std::vector<Measurement> audit_answers(SystemUnderTest& system, const AuditOptions& options) {
  const std::int64_t samples = std::min(options.samples, system.samples());
  constexpr std::int64_t kFewest = 12;  // a 99.9% interval of a median needs that many
  if (samples < kFewest) {
    throw ValueError(fmt::format("audit: {} samples, expected {} or more", samples, kFewest));
  }
  Measurement differ =
      audit_record("answers_differ", Quantity::share, {.of = Statistic::Of::share});
  Measurement ratio = audit_record("repeat_ratio", Quantity::ratio, {});
  ratio.direction = Direction::higher_is_better;
  const ScenarioResult timed_run = ask_in_turns(system, options, samples, ratio);
  compare_answers(system, options, timed_run, differ);
  return {std::move(differ), std::move(ratio)};
}

}  // namespace d5
