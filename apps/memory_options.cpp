// SPDX-License-Identifier: Apache-2.0
#include "apps/memory_options.hpp"

#include <CLI/CLI.hpp>

#include "apps/value_checks.hpp"

namespace d5::app {

void add_memory_options(CLI::App& command, MemoryOptions& options) {
  command
      .add_option("--memory", options.memory_limit,
                  "the most that the executor's plan may take, such as 512MiB or 2GB")
      ->transform(bytes())
      ->option_text("SIZE")
      ->group("Common options");
  command
      .add_option("--recompute", options.recompute,
                  "what backward computes again instead of keeping it: nodes or layers, or as much "
                  "as --memory asks for")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("auto|A,B,...")
      ->group("Common options");
}

ExecutorOptions execution_of(const RunOptions& run, const MemoryOptions& memory) {
  return {.device = device_from_name(run.device),
          .seed = run.seed,
          .memory_limit = memory.memory_limit,
          .recompute = memory.recompute};
}

}  // namespace d5::app
