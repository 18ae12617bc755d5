// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/value_checks.hpp"
#include "apps/work_list.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/bench/bench.hpp"

namespace d5::command {
namespace {

constexpr const char* kOpBenchExamples =
    R"(  d5 op bench "Gemm 64x64 64x64"                time, interval, FLOP/s
  d5 op bench "Conv 16x3x32x32 8x3x3x3" --framework reference,torch
                                                side by side, interleaved, with the ratio
  d5 op bench cases.txt --framework torch,all   torch as the base, and every other framework beside it
  d5 op bench "Gemm {m}x{k} {k}x64 for m=64,128 k=64..1024*2"
                                                every combination, each a case
  d5 op bench tests/cases/deepbench_conv.txt --framework all --pass each
                                                forward, data gradients and weight gradients apart
  d5 op bench cases.txt --pass forward --out results.json
                                                rows as they come; --resume continues after a stop
  d5 op bench cases.txt --framework reference,torch --filter Conv --pivot framework
                                                a table of cases by frameworks, with geometric means
  d5 op bench "Relu 1x64" --metrics peak_memory --samples 100 --cold-cache)";

struct OpBenchOptions : app::OutputOptions, app::RunOptions, app::ListOptions {
  std::vector<std::string> words;
  BenchOptions::Passes passes = BenchOptions::Passes::both;
  bool norms = false;
  MeasureOptions measuring;
  Isolation isolation;
};

int run_op_bench(OpBenchOptions options) {
  app::expect_frameworks_of_operators(options);
  const Isolation isolation = app::isolation_of(options.isolation, options);
  app::apply(options, operator_words);
  const auto cases = read_case_words(options.words, options.seed);
  const BenchOptions how{.frameworks = options.frameworks,
                         .device = device_from_name(options.device),
                         .passes = options.passes,
                         .metrics = app::metrics_of(options, {"time"}),
                         .measuring = app::measuring_of(options.measuring, options),
                         .errors = options.norms ? ErrorDetail::norms : ErrorDetail::largest,
                         .isolation = isolation,
                         .command_options = app::to_line(options) + app::to_line(isolation)};
  pin_threads();
  std::vector<WorkPiece> work;
  for (const auto& one : cases) {
    const auto passes = std::int64_t(passes_in(options.passes).size());
    work.push_back(
        {.record = {.subject = one.line,
                    .level = "operator",
                    .metric = "time",
                    .unit = "s",
                    .quantity = Quantity::time},
         .samples = std::int64_t(options.frameworks.size()) * passes * how.measuring.samples,
         .most_seconds = double(passes) * how.measuring.most_seconds,
         .run =
             [&](const std::function<void()>& sampled) {
               BenchOptions with_progress = how;
               with_progress.measuring.on_sample = sampled;
               return bench(one.draw(), with_progress);
             },
         .plan = [&] { return plan_bench(one.draw(), how); }});
  }
  return app::run_list(work, options, options);
}

}  // namespace

void register_op_bench(app::Program& program) {
  auto options = std::make_shared<OpBenchOptions>();
  auto& command = program.add("op bench", "measure an operator's speed in one or more frameworks",
                              kOpBenchExamples, [options] { return run_op_bench(*options); });
  command.add_option("CASE", options->words, "operator cases, or files of them")->required();
  app::add_list_options(command, *options);
  command
      .add_option("--pass", options->passes,
                  "pass to time: forward, backward, a part of it, or several")
      ->transform(app::one_of(passes_by_name()))
      ->option_text("forward|backward|backward-data|backward-weights|both|each");
  command.add_flag("--norms", options->norms, app::kNormsHelp);
  app::add_pivot_option(command, *options);
  app::add_measure_options(command, options->measuring);
  app::add_run_options(command, *options);
  app::add_isolate_option(command, options->isolation);
  app::add_metrics_option(command, *options);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
