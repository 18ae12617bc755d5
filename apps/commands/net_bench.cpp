// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/execution_options.hpp"
#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/work_list.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/level0_ops/operator/size_range.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level2_training/losses/loss.hpp"
#include "d5/level2_training/training/training_step_bench.hpp"

namespace d5::command {
namespace {

constexpr const char* kNetBenchExamples =
    R"(  d5 net bench lenet --batch 64                 inference time, and the executor's overhead
  d5 net bench lenet resnet-18 --batch 1,4..64*4 --out batches.json
                                                several batch sizes; plot them with 'd5 report
                                                batches.json --format svg
                                                --plot sample_rate-over-batch'
  d5 net bench lenet --samples 1000 --metrics latency_p90,latency_p99,overhead_share
                                                tail latencies
  d5 net bench lenet --framework reference,torch --training
                                                a training step with SGD too, side by side
  d5 net bench model.onnx --training --loss cross_entropy
                                                add a loss to a file, which has none
  d5 net bench resnet-50 --framework all,auto   every framework, its own executors, and the fastest mix
  d5 net bench resnet-50 --profile --training   which operators cost most, forward and backward
  d5 net bench 'Gemm 64x512 512x{n} for n=16..1024*4' --framework all,auto --pivot framework
                                                networks of one operator, with its weights as parameters
  d5 net bench model.onnx --framework torch+reference --out results.json
  d5 net bench model.onnx --input image=image.npy --framework all
                                                your own input; a test folder brings its own
  d5 net bench resnet-50 --transform fold-batch-norm,dead-code
                                                an equivalent network, after graph transforms
  d5 net bench alexnet --batch 256 --memory 128MiB,192MiB,256MiB --transform microbatch --out limits.json
                                                time under memory limits; plot it with 'd5 report
                                                limits.json --format svg --plot time-over-memory-limit'
  d5 net bench lenet alexnet resnet-18 models/ --framework reference,torch --pivot framework
                                                several networks, and a folder of them, in one table)";

struct NetBenchOptions : app::OutputOptions,
                         app::RunOptions,
                         app::ExecutionOptions,
                         app::ModelsArgument,
                         app::ListOptions {
  bool training = false;
  std::string loss = {};  ///< for a network without one
  bool profile = false;
  std::string batches = "1";
  std::vector<std::size_t> memory_limits = {};
  MeasureOptions measuring;
};

std::vector<Measurement> bench(const std::string& model, const NetworkBenchOptions& how,
                               const NetBenchOptions& asked) {
  auto results = bench_network(model, how);
  if (!asked.training || app::interrupted()) return results;
  for (auto& result : bench_training_step(model, how, asked.loss))
    results.push_back(std::move(result));
  return results;
}

std::vector<Measurement> plan_bench(const std::string& model, const NetworkBenchOptions& how,
                                    const NetBenchOptions& asked) {
  auto records = plan_network(model, how);
  if (!asked.training) return records;
  for (auto& record : plan_training_step(model, how, asked.loss))
    records.push_back(std::move(record));
  return records;
}

WorkPiece piece(const std::string& model, const NetworkBenchOptions& how,
                const NetBenchOptions& asked) {
  WorkPiece work;
  work.record = detail::network_record(model, how.frameworks.front(), how.sizes, "inference");
  note_execution(work.record, detail::execution_of(how));
  work.record.metric = "time";
  work.record.unit = "s";
  work.record.quantity = Quantity::time;
  work.name = work.record.subject;
  if (how.sizes.batch != 1) work.name += fmt::format(", batch {}", how.sizes.batch);
  if (how.memory_limit > 0) work.name += ", memory " + byte_words(how.memory_limit);
  const int passes = asked.training ? 2 : 1;
  work.samples = std::int64_t(how.frameworks.size()) * how.measuring.samples * passes;
  work.most_seconds = how.measuring.most_seconds * passes;
  work.run = [=](const std::function<void()>& sampled) {
    NetworkBenchOptions with_progress = how;
    with_progress.measuring.on_sample = sampled;
    return bench(model, with_progress, asked);
  };
  work.plan = [=] { return plan_bench(model, how, asked); };
  return work;
}

int run_net_bench(NetBenchOptions options) {
  app::apply(options, executor_words);
  if (!options.loss.empty()) {
    if (!options.training)
      throw ValueError("net bench: --loss is for training steps: add --training");
    (void)losses().at(entry_of_words("loss", options.loss).name);
  }
  const NetworkBenchOptions how{.frameworks = options.frameworks,
                                .sizes = app::sizes_of(options),
                                .inputs = app::inputs_of(options),
                                .transforms = app::chain_of(options),
                                .placement = app::placement_of(options),
                                .device = device_from_name(options.device),
                                .recompute = options.recompute,
                                .metrics = app::metrics_of(options, NetworkBenchOptions().metrics),
                                .profile = options.profile,
                                .measuring = app::measuring_of(options.measuring, options),
                                .command_options = app::to_line(options)};
  pin_threads();
  const auto models = models_of(options.models);
  const auto limits =
      options.memory_limits.empty() ? std::vector<std::size_t>{0} : options.memory_limits;
  const auto sizes = sizes_of_models(models, how.sizes);
  std::vector<WorkPiece> work;
  for (std::size_t i = 0; i < models.size(); ++i) {
    for (const std::int64_t batch : sizes_from(options.batches)) {
      for (const std::size_t limit : limits) {
        NetworkBenchOptions one = how;
        one.sizes = sizes[i];
        one.sizes.batch = batch;
        one.memory_limit = limit;
        work.push_back(piece(models[i], one, options));
      }
    }
  }
  return app::run_list(work, options, options);
}

}  // namespace

void register_net_bench(app::Program& program) {
  auto options = std::make_shared<NetBenchOptions>();
  auto& command = program.add("net bench", "measure a network's speed, and the executor's overhead",
                              kNetBenchExamples, [options] { return run_net_bench(*options); });
  app::add_models_argument(command, *options);
  command
      .add_option("--batch", options->batches,
                  "batch sizes (each open dimension of a model), as 1,4,16 or 1..64*2")
      ->option_text("N,...")
      ->group(app::kManyGroup);
  app::add_dim_option(command, *options);
  app::add_input_option(command, *options);
  app::add_transform_option(command, *options);
  app::add_list_options(command, *options);
  command.add_flag("--training", options->training, "measure training steps, too");
  command.add_option("--loss", options->loss, "loss for a network without one ('d5 list losses')")
      ->option_text("NAME:KEY=VALUE...");
  command.add_flag("--profile", options->profile,
                   "break the time down by operator type, layer and node");
  app::add_pivot_option(command, *options);
  app::add_measure_options(command, options->measuring);
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options, options->memory_limits);
  app::add_metrics_option(command, *options);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
