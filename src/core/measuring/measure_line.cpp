// SPDX-License-Identifier: Apache-2.0
// How measuring is told on a command line.
#include "d5/core/command_line.hpp"
#include "d5/core/measure.hpp"

namespace d5 {

std::string to_line(const MeasureOptions& options, const std::vector<MetricChoice>& metrics) {
  const MeasureOptions usual;
  CommandLine line;
  line.option("--seed", options.seed);
  if (options.samples != usual.samples) line.option("--samples", options.samples);
  if (options.warmup != usual.warmup) line.option("--warmup", options.warmup);
  if (options.most_seconds != usual.most_seconds) {
    line.option("--most-seconds", options.most_seconds);
  }
  if (options.cold_cache) line.flag("--cold-cache");
  if (options.unjudged) line.flag("--unjudged");
  if (options.judge_seconds != usual.judge_seconds) {
    line.option("--judge-seconds", options.judge_seconds);
  }
  return line.metrics(metrics).text();
}

}  // namespace d5
