// SPDX-License-Identifier: Apache-2.0
#include "apps/execution_options.hpp"

#include <CLI/CLI.hpp>

#include "apps/value_checks.hpp"
#include "apps/work_list.hpp"

namespace d5::app {

namespace {

constexpr const char* kMemoryHelp = "memory limit of the executor's plan, such as 512MiB or 2GB";

void add_other_options(CLI::App& command, ExecutionOptions& options) {
  command
      .add_option("--recompute", options.recompute,
                  "nodes or layers that backward recomputes instead of keeping, or auto: as much "
                  "as --memory requires")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("auto|A,B,...")
      ->group("Common options");
  command
      .add_option("--place", options.places,
                  "run nodes in other frameworks: OPERATOR=FRAMEWORK or node:NAME=FRAMEWORK, where "
                  "* matches any text; the first rule that matches a node decides")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...")
      ->group("Common options");
}

}  // namespace

void add_execution_options(CLI::App& command, ExecutionOptions& options) {
  command.add_option("--memory", options.memory_limit, kMemoryHelp)
      ->transform(bytes())
      ->option_text("SIZE")
      ->group("Common options");
  add_other_options(command, options);
}

void add_execution_options(CLI::App& command, ExecutionOptions& options,
                           std::vector<std::size_t>& memory_limits) {
  command
      .add_option("--memory", memory_limits,
                  std::string(kMemoryHelp) + "; with several, each in turn")
      ->transform(bytes())
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("SIZE,...")
      ->group(kManyGroup);
  add_other_options(command, options);
}

Placement placement_of(const ExecutionOptions& options) {
  Placement placement;
  for (const auto& word : options.places) {
    const PlacementRule& rule = placement.emplace_back(placement_rule(word));
    for (const auto& name : frameworks_of(rule)) check_framework_name(name);
  }
  return placement;
}

ExecutorOptions execution_of(const RunOptions& run, const ExecutionOptions& options) {
  return {.device = device_from_name(run.device),
          .seed = run.seed,
          .placement = placement_of(options),
          .memory_limit = options.memory_limit,
          .recompute = options.recompute};
}

}  // namespace d5::app
