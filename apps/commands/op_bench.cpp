// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/progress.hpp"
#include "d5/core/threads.hpp"
#include "d5/level0_ops/bench.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 op bench "Gemm 64x64 64x64"                time, interval, FLOP/s
  d5 op bench "Conv 16x3x32x32 8x3x3x3" --framework reference,torch
                                                side by side, interleaved, with the ratio
  d5 op bench cases.txt --pass forward --out results.json
  d5 op bench "Relu 1x64" --metrics peak_memory --samples 100 --cold-cache)";

struct Options : app::OutputOptions, app::RunOptions {
  std::vector<std::string> words;
  BenchOptions::Passes passes = BenchOptions::Passes::both;
  MeasureOptions measuring;
};

int run(const Options& options) {
  app::apply(options);
  const auto cases = read_case_words(options.words, options.seed);
  const BenchOptions how{.frameworks = options.frameworks,
                         .device = device_from_name(options.device),
                         .passes = options.passes,
                         .metrics = app::metrics_of(options, {"time"}),
                         .measuring = app::measuring_of(options.measuring, options),
                         .command_options = app::to_line(options)};
  pin_threads();
  std::vector<Measurement> results;
  {
    Progress progress("cases", std::int64_t(cases.size()), {.unit = "cases"});
    for (const auto& one : cases) {
      if (app::interrupted()) break;
      progress.note(one.line);
      for (auto& result : bench(one, how)) results.push_back(std::move(result));
      progress.advance();
    }
  }
  return app::publish(std::move(results), options);
}

}  // namespace

void register_op_bench(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("op bench", "how fast is an operator, in which framework", kExamples,
                              [options] { return run(*options); });
  command.add_option("CASE", options->words, "cases, or files of them")->required();
  using Passes = BenchOptions::Passes;
  const std::map<std::string, Passes> passes{
      {"forward", Passes::forward}, {"backward", Passes::backward}, {"both", Passes::both}};
  command.add_option("--pass", options->passes, "what is timed")
      ->transform(CLI::CheckedTransformer(passes))
      ->option_text("forward|backward|both");
  app::add_measure_options(command, options->measuring);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
