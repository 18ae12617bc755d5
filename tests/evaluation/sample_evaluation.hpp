// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/analysis/analysis.hpp"

namespace d5::testing {

/// A cell whose 100 latencies are 1 to 100 times `seconds`: every percentile can be found by hand.
struct SampleCell {
  std::string framework;
  std::int64_t batch;
  double seconds, throughput, accuracy;
};

inline Measurement evaluation_record(const SampleCell& cell, const std::string& metric,
                                     const std::string& unit, std::vector<double> samples,
                                     Statistic statistic) {
  return {.subject = "lenet@1.0.0",
          .command = "d5 eval run lenet",
          .level = "evaluation",
          .framework = cell.framework,
          .metric = metric,
          .unit = unit,
          .statistic = statistic,
          .samples = std::move(samples),
          .conditions = {{"dataset", identity("mnist")}, {"threads", identity(1)}}};
}

/// Records like those of an evaluation: accuracy of 1000 samples, cold start, latencies,
/// throughput.
inline std::vector<Measurement> records_of(const SampleCell& cell) {
  std::vector<double> right(1000, 0.0), latencies;
  for (std::size_t i = 0; i < std::size_t(cell.accuracy * 1000 + 0.5); ++i) right[i] = 1;
  for (int i = 1; i <= 100; ++i) latencies.push_back(i * cell.seconds);
  const Statistic single{.of = Statistic::Of::single};
  std::vector<Measurement> records = {
      evaluation_record(cell, "top1", "1", right, {.of = Statistic::Of::share}),
      evaluation_record(cell, "cold_start", "s", {20 * cell.seconds}, single),
      evaluation_record(cell, "first_predict", "s", {101 * cell.seconds}, single),
      evaluation_record(cell, "throughput", "sample/s", {cell.throughput}, single)};
  for (const double quantile : {0.5, 0.9, 0.99}) {  // each has all samples
    records.push_back(evaluation_record(cell, "latency", "s", latencies,
                                        {.of = Statistic::Of::quantile, .quantile = quantile}));
  }
  records[0].quantity = Quantity::accuracy;
  records[0].direction = Direction::higher_is_better;
  for (std::size_t i = 3; i < records.size(); ++i) {
    records[i].conditions["scenario"] = identity("single_stream");
    records[i].conditions["batch"] = identity(cell.batch);
  }
  return records;
}

inline AnalysedRun sample_run(const std::vector<SampleCell>& cells,
                              const std::string& name = "run") {
  AnalysedRun run{.name = name};
  for (const auto& cell : cells) {
    for (auto& record : records_of(cell)) run.results.measurements.push_back(std::move(record));
  }
  return run;
}

}  // namespace d5::testing
