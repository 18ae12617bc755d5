// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/dataset_bench.hpp"

namespace d5::command {
namespace {

constexpr const char* kDataBenchExamples =
    R"(  d5 data bench mnist             batches in order and shuffled, interleaved, with the ratio
  d5 data bench cifar-10 --batch 128 --sampler shuffle
  d5 data bench train.tar --loader-threads 2   a file of 'd5 data convert', read ahead
  d5 data bench "synthetic:fields=x float32 3x224x224 normal" --batch 1)";

struct DataBenchOptions : app::OutputOptions, app::RunOptions {
  std::string words;
  DatasetBenchOptions bench;
};

int run_data_bench(const DataBenchOptions& options) {
  app::apply(options);
  app::check_output(options);
  pin_threads();
  DatasetBenchOptions how = options.bench;
  how.measuring = app::measuring_of(options.bench.measuring, options);
  how.command_options = app::to_line(static_cast<const app::RunOptions&>(options));
  return app::publish(bench_dataset(dataset_of_words(options.words), how), options);
}

}  // namespace

void register_data_bench(app::Program& program) {
  auto options = std::make_shared<DataBenchOptions>();
  auto& command = program.add("data bench", "measure how fast a data set yields batches",
                              kDataBenchExamples, [options] { return run_data_bench(*options); });
  command
      .add_option("DATASET", options->words,
                  "data set ('d5 list datasets') or a container's files, as NAME[:KEY=VALUE]...; "
                  "its training part is read")
      ->required();
  command.add_option("--batch", options->bench.batch_size, "samples per batch")
      ->transform(app::whole_number(1))
      ->option_text("N");
  command
      .add_option("--sampler", options->bench.samplers, "samplers to compare ('d5 list samplers')")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...");
  command
      .add_option("--loader-threads", options->bench.loader_threads,
                  "threads per sampler that read ahead; 0: none")
      ->transform(app::whole_number(0, 1024))
      ->option_text("N");
  app::add_measure_options(command, options->bench.measuring);
  app::add_process_options(command, *options);
  app::add_load_option(command, options->load);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
