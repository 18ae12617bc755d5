// SPDX-License-Identifier: Apache-2.0
#include "apps/publish.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "d5/level3_distributed/communicator.hpp"

namespace d5::app {

void print(const Results& results, Format format) {
  // mpirun gives ranks a terminal, wherever their output ends.
  const Colour colour = world()->size() > 1 ? Colour::never : colour_for(STDOUT_FILENO);
  std::fputs(to_text(results, format, colour).c_str(), stdout);
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
