// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/trace.hpp"
#include "d5/evaluation/scenario.hpp"

namespace d5::scenario {
namespace {

/// One query after the other, each when the one before is answered.
class SingleStream final : public Scenario {
 public:
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    ScenarioResult result;
    result.latency_from = LatencyFrom::issue;
    result.percentile = 0.9;
    QueryRecord record;
    std::vector<double> latencies;
    std::int64_t failed = 0;
    system.on_complete([&](std::span<const QueryAnswer> answers) {
      for (const QueryAnswer& answer : answers) {
        record.ended = Trace::now_ns();
        record.begun = answer.begun;
        record.batch = answer.batch;
        record.status = answer.status;
        if (answer.status != Status::passed && failed++ == 0) result.reason = answer.reason;
      }
    });
    const std::int64_t start = Trace::now_ns();
    const auto seconds = [&] { return double(Trace::now_ns() - start) * 1e-9; };
    for (std::int64_t id = 0; id < options.most_queries && seconds() < options.most_seconds; ++id) {
      if (id >= options.least_queries && seconds() >= options.least_seconds) break;
      options.interrupt.check("scenario single_stream");
      record = {.id = id, .sample = id % system.samples()};
      record.scheduled = record.issued = Trace::now_ns();
      const Query query{id, record.sample};
      system.issue({&query, 1});
      result.queries.push_back(record);
      latencies.push_back(double(record.ended - record.issued) * 1e-9);
    }
    system.on_complete({});
    for (const double quantile : {0.5, 0.9, 0.99}) {
      Measurement latency;
      latency.metric = "latency";
      latency.unit = "s";
      latency.quantity = Quantity::time;
      latency.statistic = {.quantile = quantile};
      latency.samples = latencies;
      result.measurements.push_back(std::move(latency));
    }
    if (failed > 0) {
      result.status = Status::failed;
      result.reason = fmt::format("{} queries failed: {}", failed, result.reason);
    }
    return result;
  }
};

}  // namespace

void register_single_stream(Registry<ScenarioEntry>& registry) {
  registry.add("single_stream", ScenarioEntry::of<SingleStream>("one query after the other"));
}

}  // namespace d5::scenario
