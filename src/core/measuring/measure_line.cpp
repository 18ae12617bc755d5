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
              "samples of each metric that leaves it open; fewer than 30 are mistrusted",
              {.least = 1});
  options.add("warmup", warmup, "runs before the first sample", {.least = 0});
  options.add("seconds_per_sample", seconds_per_sample,
              "the least time of a sample: shorter runs are batched", seconds({.least = 0}));
  options.add("most_seconds", most_seconds,
              "the longest time of sampling; then it ends, after one sample at least",
              seconds({.above = 0}));
  options.add("cold_cache", cold_cache,
              "evict the last-level cache before each run, and batch none");
  options.add("unjudged", unjudged, "judge nobody's answers; records say so");
  options.add("judge_seconds", judge_seconds,
              "the longest time of the reference for judging; then another framework judges",
              seconds({.least = 0}));
}

std::string to_line(const MeasureOptions& options, const std::vector<MetricChoice>& metrics) {
  return CommandLine().option("--seed", options.seed).options(options).metrics(metrics).text();
}

}  // namespace d5
