// SPDX-License-Identifier: Apache-2.0
// How measuring is told on a command line.
#include <fmt/format.h>

#include "d5/core/measure.hpp"

namespace d5 {

std::string to_line(const MeasureOptions& options, const std::vector<MetricChoice>& metrics) {
  const MeasureOptions usual;
  std::string line = fmt::format(" --seed {}", options.seed);
  if (options.samples != usual.samples) line += fmt::format(" --samples {}", options.samples);
  if (options.warmup != usual.warmup) line += fmt::format(" --warmup {}", options.warmup);
  if (options.most_seconds != usual.most_seconds) {
    line += fmt::format(" --most-seconds {}", options.most_seconds);
  }
  if (options.cold_cache) line += " --cold-cache";
  std::string names;
  for (const auto& metric : metrics) {
    if (metric.name().empty() || metric.name() == "time") continue;
    names += (names.empty() ? "" : ",") + metric.to_line();
  }
  return names.empty() ? line : line + " --metrics " + names;
}

}  // namespace d5
