// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training_step_bench.hpp"

#include "d5/core/error.hpp"
#include "d5/level1_network/execution_interrupt.hpp"
#include "d5/level2_training/optimizer.hpp"

namespace d5 {
namespace {

struct TrainingExecutor {
  std::shared_ptr<GraphExecutor> executor;
  std::string loss = {};
  ValueMap inputs = {};
};

TrainingExecutor open_for_training(const std::string& model, const std::string& framework,
                                   const OpenSizes& sizes, const ExecutorOptions& execution,
                                   const TransformChain& transforms) {
  Settings wishes = run_wishes(framework, sizes, execution);
  wishes.set("with_loss", true);
  wishes.set("training", true);
  TrainingExecutor result{
      .executor = open_executor(framework, open_model(model, wishes, transforms), execution)};
  const Network& network = result.executor->network();
  result.loss = loss_of(network);
  if (result.loss.empty()) {
    throw Unsupported("the network has no scalar output 'loss' to train on; built-in ones have");
  }
  result.inputs = random_inputs(network, sizes, execution.seed);
  return result;
}

}  // namespace

Subject training_step_subject(const std::string& model, const std::string& framework,
                              const OpenSizes& sizes, const ExecutorOptions& execution,
                              const TransformChain& transforms, const Interrupt& interrupt) {
  constexpr double kHardlyAny = 1e-12;
  auto [executor, loss, inputs] = open_for_training(model, framework, sizes, execution, transforms);
  const auto batch = std::make_shared<Batch>();
  batch->values = std::move(inputs);
  batch->size = sizes.batch;
  const std::shared_ptr<Optimizer> optimizer =
      optimizers().at("sgd").make(std::move(executor), loss, {{"learning_rate", kHardlyAny}});
  Subject subject{.record = detail::network_record(model, framework, sizes, "training step"),
                  .run = [optimizer, batch] { (void)optimizer->step(*batch); },
                  .synchronise = [optimizer] { optimizer->executor().synchronise(); },
                  .work = {.samples = double(sizes.batch)},
                  .events = {&optimizer->executor().events()}};
  subject.record.framework_version = version_of(framework);
  subject.record.device = to_string(execution.device);
  const InterruptibleRuns interruptible(optimizer->executor(), interrupt);
  subject.run();  // throws here, not while measuring, if it cannot
  subject.work.memory = detail::predicted_bytes(optimizer->executor(), batch->values, loss);
  return subject;
}

std::vector<Measurement> bench_training_step(const std::string& model,
                                             const NetworkBenchOptions& options) {
  return detail::bench_side_by_side(
      model, options, "training step", " --training", [&](const std::string& framework) {
        return training_step_subject(model, framework, options.sizes, detail::execution_of(options),
                                     options.transforms, options.measuring.interrupt);
      });
}

std::vector<Measurement> plan_training_step(const std::string& model,
                                            const NetworkBenchOptions& options) {
  return detail::plan_in_each(model, options, "training step", [&](const std::string& framework) {
    const auto [executor, loss, inputs] = open_for_training(
        model, framework, options.sizes, detail::execution_of(options), options.transforms);
    const InterruptibleRuns interruptible(*executor, options.measuring.interrupt);
    executor->plan(inputs, loss);
  });
}

}  // namespace d5
