// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/usual_load.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "d5/core/statistics/student.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "evaluation/load/load_run.hpp"

namespace d5::detail {
namespace {

constexpr double kLoad = 0.5;  // share of the reachable rate: above it the queue would grow

}  // namespace

std::vector<double> latencies_alone(SystemUnderTest& system, const ScenarioOptions& options,
                                    std::int64_t queries, std::int64_t samples_per_query) {
  LoadRun run(system,
              {.least_queries = queries,
               .performance_samples = options.performance_samples,
               .seed = options.seed,
               .answer_seconds = options.answer_seconds,
               .clock = options.clock,
               .interrupt = options.interrupt},
              {.samples_per_query = samples_per_query, .latency_from = LatencyFrom::issue});
  while (run.asked() < queries && run.wait_for(0)) run.ask(run.now());
  return query_latencies(run.end());
}

UsualLoad usual_load(SystemUnderTest& system, const ScenarioOptions& options) {
  constexpr std::int64_t kQueries = 30;
  constexpr double kMost = 1000;  // above it the generator's own times matter
  const std::vector<double> latencies = latencies_alone(system, options, 1 + kQueries);
  if (latencies.size() < 3) return {};
  const Estimate mean = mean_with_interval(std::span(latencies).subspan(1));
  const double affordable =
      double(options.most_queries) / (4 * std::max(1., options.least_seconds));
  const double service = std::max(mean.interval.high, 1e-9);
  return {.rate = std::min({kLoad / service, kMost, affordable}), .service = service};
}

double usual_target(double service, double queries) {
  constexpr double kMissed = 0.005;  // share of runs that miss the target
  return service * std::log(std::max(queries, 1.) / (kLoad * kMissed)) / (1 - kLoad);
}

void tell_usual(ScenarioResult& result, const char* metric, const char* unit, double value) {
  Measurement record;
  record.level = "evaluation";
  record.metric = metric;
  record.unit = unit;
  record.quantity = std::string_view(unit) == "s" ? Quantity::time : Quantity::rate;
  record.direction = Direction::neither;
  record.statistic = {.of = Statistic::Of::single};
  record.samples = {value};
  record.conditions = result.conditions;
  record.status = result.status;
  record.reason = result.reason;
  result.measurements.push_back(std::move(record));
}

}  // namespace d5::detail
