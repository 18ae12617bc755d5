// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/usual_load.hpp"

#include <algorithm>
#include <string_view>

#include "d5/core/statistics.hpp"
#include "d5/evaluation/query_summary.hpp"
#include "evaluation/load/load_run.hpp"

namespace d5::detail {

std::vector<double> latencies_alone(SystemUnderTest& system, const ScenarioOptions& options,
                                    std::int64_t samples_per_query) {
  constexpr std::int64_t kQueries = 10;
  LoadRun run(system,
              {.least_queries = kQueries,
               .performance_samples = options.performance_samples,
               .seed = options.seed,
               .answer_seconds = options.answer_seconds,
               .clock = options.clock,
               .interrupt = options.interrupt},
              {.samples_per_query = samples_per_query, .latency_from = LatencyFrom::issue});
  while (run.asked() < kQueries && run.wait_for(0)) run.ask(run.now());
  std::vector<double> latencies = query_latencies(run.end());
  std::ranges::sort(latencies);
  return latencies;
}

UsualLoad usual_load(SystemUnderTest& system, const ScenarioOptions& options) {
  constexpr double kShare = 0.5;  // of what it reaches: a queue that grows tells nothing of it
  constexpr double kMost = 1000;  // above it a generator's own times count
  const std::vector<double> latencies = latencies_alone(system, options);
  if (latencies.empty()) return {};
  const double alone = estimate(latencies).value;
  const double affordable =
      double(options.most_queries) / (4 * std::max(1., options.least_seconds));
  return {.rate = std::min({kShare / std::max(alone, 1e-9), kMost, affordable}), .alone = alone};
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
