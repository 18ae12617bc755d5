// SPDX-License-Identifier: Apache-2.0
// Options of measuring for the program, for a record's command, and for Python.
#include <limits>

#include "d5/core/measuring/command_line.hpp"
#include "d5/core/measuring/measure.hpp"

namespace d5 {

void MeasureOptions::declare(OptionList& options) {
  const auto seconds = [](OptionRange range) {
    range.below = std::numeric_limits<double>::infinity();
    range.unit = "s";
    return range;
  };
  options.add("samples", samples,
              "samples per metric, unless it sets its own number; fewer than 30 are mistrusted",
              {.least = 1});
  options.add("warmup", warmup, "runs before the first sample", {.least = 0});
  options.add("seconds_per_sample", seconds_per_sample,
              "minimum time of a sample; shorter runs are batched", seconds({.least = 0}));
  options.add("most_seconds", most_seconds, "time limit of sampling; at least one sample is taken",
              seconds({.above = 0}));
  options.add("cold_cache", cold_cache,
              "evict the last-level cache before each run, without batching");
  options.add("unjudged", unjudged, "skip the correctness check; records say so");
  options.add(
      "judge_seconds", judge_seconds,
      "time limit of the reference in the correctness check; beyond it another framework judges",
      seconds({.least = 0}));
}

std::string to_line(const MeasureOptions& options, const std::vector<MetricChoice>& metrics) {
  return CommandLine().option("--seed", options.seed).options(options).metrics(metrics).text();
}

}  // namespace d5
