// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_step_bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/graph/transform_doubt.hpp"
#include "d5/level2_training/losses/loss.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "level1_network/validation/network_judge.hpp"
#include "level1_network/validation/shared_drawing.hpp"
#include "level2_training/training/changed_parameters.hpp"

namespace d5 {
namespace {

struct TrainingExecutor {
  std::shared_ptr<GraphExecutor> executor;
  std::string loss = {};
  NetworkInputs inputs = {};
};

Settings training_wishes(const std::string& framework, const OpenSizes& sizes,
                         const ExecutorOptions& execution) {
  Settings wishes = run_wishes(framework, sizes, execution);
  wishes.set("with_loss", true);
  wishes.set("training", true);
  return wishes;
}

/// Appends the requested loss to a network. Throws: ValueError for a network that has one.
Network with_loss(Network network, const std::string& loss) {
  if (loss.empty()) return network;
  if (!loss_of(network).empty()) {
    throw ValueError(
        fmt::format("network '{}' has an output 'loss' already, which is trained on; "
                    "leave the loss {} out",
                    printable(network.name()), printable(loss)));
  }
  const EntryChoice choice = entry_of_words("loss", loss);
  const bool tells_classes = choice.name == "cross_entropy";
  append_loss(network, choice.name, {.target_type = tells_classes ? DType::int64 : DType::float32},
              choice.settings);
  return network;
}

TrainingExecutor open_for_training(const std::string& model, const std::string& framework,
                                   const OpenSizes& sizes, const ExecutorOptions& execution,
                                   const TransformChain& transforms, const GivenInputs& given,
                                   const std::string& asked) {
  const Settings wishes = training_wishes(framework, sizes, execution);
  Network transformed = with_loss(open_model(model, wishes, transforms), asked);
  if (kept_by(transforms) != Keeps::rounded) forget_doubt(transformed);  // judged here
  TrainingExecutor result{.executor = open_executor(framework, std::move(transformed), execution)};
  const Network& network = result.executor->network();
  result.loss = loss_of(network);
  if (result.loss.empty()) {
    throw Unsupported(
        fmt::format("the network has no scalar output 'loss' to train on; give it one ({})",
                    fmt::join(losses().names(), ", ")));
  }
  detail::expect_parameters(network);
  result.inputs = network_inputs(model, *result.executor, sizes, given, execution.seed);
  return result;
}

/// Adds each parameter's value after a step of gradient descent; the parameters themselves stay.
void add_updated(GraphExecutor& executor, const ValueMap& inputs, const std::string& loss,
                 std::vector<Answer>& answers) {
  std::vector<Tensor> before;
  for (const Parameter& parameter : executor.network().parameters()) {
    before.push_back(parameter.value.copy());
  }
  const std::shared_ptr<GraphExecutor> lent(std::shared_ptr<void>(), &executor);
  const auto optimizer = optimizers().at("sgd").make(lent, loss, {{"learning_rate", 1.0}});
  Batch batch;
  batch.values = inputs;
  (void)optimizer->step(batch);
  executor.synchronise();
  auto kept = before.begin();
  for (Parameter& parameter : executor.network().parameters()) {
    answers.push_back({"updated " + parameter.name, Value(parameter.value.copy({}))});
    parameter.value.copy_from(*kept++);
  }
}

/// Judge of steps on the network of `open_for_training`: outputs, gradients, one update.
std::shared_ptr<NetworkJudge> step_judge(const std::string& model, const OpenSizes& sizes,
                                         const ExecutorOptions& execution,
                                         const TransformChain& transforms,
                                         const MeasureOptions& measuring,
                                         const std::string& asked) {
  const std::string loss = "loss";
  BackwardBegin begin{.loss = loss};
  begin.then = [loss](GraphExecutor& executor, const ValueMap& inputs,
                      std::vector<Answer>& answers) {
    add_updated(executor, inputs, loss, answers);
  };
  return std::make_shared<NetworkJudge>(JudgedRun{
      .open = [open =
                   opens_judged(model, training_wishes("reference", sizes, execution), transforms),
               asked] { return with_loss(open(), asked); },
      .begin = std::move(begin),
      .of = "training step",
      .seed = execution.seed,
      .most_seconds = measuring.judge_seconds,
      .interrupt = measuring.interrupt});
}

Subject judged_subject(const std::string& model, const std::string& framework,
                       const OpenSizes& sizes, const ExecutorOptions& execution,
                       const TransformChain& transforms, const GivenInputs& given,
                       const Interrupt& interrupt, const std::shared_ptr<NetworkJudge>& judge,
                       SharedDrawing& drawing, const std::string& asked) {
  constexpr double kHardlyAny = 1e-12;
  auto [executor, loss, usual] =
      open_for_training(model, framework, sizes, execution, transforms, given, asked);
  const InterruptibleRuns interruptible(*executor, interrupt);
  NetworkInputs fed;
  with_advice(usual, [&, &executor = executor, &usual = usual] {
    fed = drawing.inputs(*executor, usual, sizes, execution.seed);
  });
  const auto batch = std::make_shared<Batch>();
  batch->values = fed.values;
  batch->size = fed.sizes.batch;
  const std::shared_ptr<Optimizer> optimizer =
      optimizers().at("sgd").make(std::move(executor), loss, {{"learning_rate", kHardlyAny}});
  Subject subject{.record = detail::network_record(model, framework, fed.sizes, "training step"),
                  .run = [optimizer, batch] { (void)optimizer->step(*batch); },
                  .synchronise = [optimizer] { optimizer->executor().synchronise(); },
                  .work = {.samples = double(fed.sizes.batch)},
                  .events = {&optimizer->executor().events()}};
  subject.record.framework_version = version_of(framework);
  subject.record.device = to_string(execution.device);
  subject.judge = [=](Subject::Moment moment) {
    return judge->judge(optimizer->executor(), framework, batch->values, moment);
  };
  note_inputs(subject.record, sizes, optimizer->executor().network(), fed);
  with_advice(fed, [&] { subject.run(); });  // throws here, not while measuring, if it cannot
  subject.work.memory = detail::predicted_bytes(optimizer->executor(), batch->values, loss);
  return subject;
}

}  // namespace

Subject training_step_subject(const std::string& model, const std::string& framework,
                              const OpenSizes& sizes, const ExecutorOptions& execution,
                              const TransformChain& transforms, const Interrupt& interrupt) {
  SharedDrawing drawing;
  return judged_subject(
      model, framework, sizes, execution, transforms, {}, interrupt,
      step_judge(model, sizes, execution, transforms, {.interrupt = interrupt}, {}), drawing, {});
}

std::vector<Measurement> bench_training_step(const std::string& model,
                                             const NetworkBenchOptions& options,
                                             const std::string& loss) {
  const ExecutorOptions execution = detail::execution_of(options);
  const auto judge =
      step_judge(model, options.sizes, execution, options.transforms, options.measuring, loss);
  CommandLine flags;
  flags.flag("--training");
  if (!loss.empty()) flags.option("--loss", loss);
  if (!options.inputs.empty()) {  // which no framework takes if they do not fit the network
    const Settings wishes = training_wishes("reference", options.sizes, execution);
    (void)network_inputs(model, with_loss(open_model(model, wishes, options.transforms), loss),
                         options.sizes, options.inputs);
  }
  SharedDrawing drawing;
  return detail::bench_side_by_side(
      model, options, "training step", flags.text(), [&](const std::string& framework) {
        return judged_subject(model, framework, options.sizes, execution, options.transforms,
                              options.inputs, options.measuring.interrupt, judge, drawing, loss);
      });
}

std::vector<Measurement> plan_training_step(const std::string& model,
                                            const NetworkBenchOptions& options,
                                            const std::string& asked) {
  return detail::plan_in_each(model, options, "training step", [&](const std::string& framework) {
    const auto [executor, loss, inputs] =
        open_for_training(model, framework, options.sizes, detail::execution_of(options),
                          options.transforms, options.inputs, asked);
    const InterruptibleRuns interruptible(*executor, options.measuring.interrupt);
    executor->plan(inputs.values, loss);
  });
}

}  // namespace d5
