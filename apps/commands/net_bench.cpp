// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/progress.hpp"
#include "d5/core/results.hpp"
#include "d5/core/threads.hpp"
#include "d5/level1_network/network_profile.hpp"
#include "d5/level2_training/training_step_bench.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 net bench lenet --batch 64                 inference, and what the executor adds
  d5 net bench lenet --framework reference,torch --training
                                                a training step with SGD too, side by side
  d5 net bench resnet-50 --profile --training   which operators cost most, forward and backward
  d5 net bench model.onnx --framework torch+reference --out results.json)";

struct Options : app::OutputOptions, app::RunOptions, app::ModelArgument {
  bool training = false;
  bool profile = false;
  MeasureOptions measuring;
};

/// A profile has too many records for one table: people get tables of what costs most.
int publish(std::vector<Measurement> results, const Options& options) {
  const bool for_people = options.format == Format::table || options.format == Format::markdown;
  if (!options.profile || !for_people) return app::publish(std::move(results), options);
  fmt::print("{}\n", profile_tables(results, options.format));
  std::vector<Measurement> whole;
  std::ranges::copy_if(results, std::back_inserter(whole),
                       [](const Measurement& m) { return !is_profile_record(m); });
  app::print({environment(), std::move(whole)}, options.format);
  if (!options.out.empty()) write_results({environment(), results}, options.out);
  return exit_status(results);
}

int run(const Options& options) {
  app::apply(options);
  const NetworkBenchOptions how{.frameworks = options.frameworks,
                                .sizes = app::sizes_of(options),
                                .device = device_from_name(options.device),
                                .metrics = app::metrics_of(options, {"time", "framework_overhead"}),
                                .profile = options.profile,
                                .measuring = app::measuring_of(options.measuring, options),
                                .command_options = app::to_line(options)};
  pin_threads();
  Progress progress(options.model, options.training ? 2 : 1, {.unit = "passes"});
  auto results = bench_network(options.model, how);
  progress.advance();
  if (options.training && !app::interrupted()) {
    for (auto& result : bench_training_step(options.model, how)) {
      results.push_back(std::move(result));
    }
    progress.advance();
  }
  return publish(std::move(results), options);
}

}  // namespace

void register_net_bench(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("net bench", "how fast is a network, and what does the executor add",
                              kExamples, [options] { return run(*options); });
  app::add_model_argument(command, *options);
  command.add_flag("--training", options->training, "time training steps too");
  command.add_flag("--profile", options->profile,
                   "which operator costs most: by type, by layer, by node");
  app::add_measure_options(command, options->measuring);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
