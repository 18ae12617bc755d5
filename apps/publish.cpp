// SPDX-License-Identifier: Apache-2.0
#include "apps/publish.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "apps/text_table.hpp"
#include "d5/core/statistics.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5::app {
namespace {

std::string to_markdown(const std::vector<Measurement>& measurements) {
  TextTable table(
      {"subject", "framework", "metric", "median", "95% interval", "samples", "status"});
  for (const auto& m : measurements) {
    std::string median, interval;
    if (!m.samples.empty()) {
      const Summary summary = summarise(m.samples);
      median = with_prefix(summary.median, m.unit);
      const auto [low, high] = summary.median_interval;
      if (low < high) {
        interval = fmt::format("{} to {}", with_prefix(low, m.unit), with_prefix(high, m.unit));
      }
    }
    std::string status(name_of(m.status));
    if (!m.reason.empty()) status += ": " + m.reason;
    table.add({m.subject, m.framework, m.metric, median, interval,
               fmt::format("{}", m.samples.size()), status});
  }
  return table.to_text(Format::markdown);
}

}  // namespace

void print(const Results& results, Format format) {
  std::string text;
  switch (format) {
    case Format::table:
      // mpirun gives ranks a terminal, wherever their output ends.
      text = to_table(results.measurements,
                      world()->size() > 1 ? Colour::never : colour_for(STDOUT_FILENO));
      break;
    case Format::json:
      text = to_json(results) + "\n";
      break;
    case Format::csv:
      text = to_csv(results);
      break;
    case Format::markdown:
      text = to_markdown(results.measurements);
      break;
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

int publish(std::vector<Measurement> measurements, const OutputOptions& options) {
  const Results results{environment(), std::move(measurements)};
  print(results, options.format);
  if (!options.out.empty()) {
    write_results(results, options.out);
    if (!options.quiet) fmt::print(stderr, "results written to {}\n", options.out);
  }
  return exit_status(results.measurements);
}

}  // namespace d5::app
