// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/comparison_records.hpp"
#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/error.hpp"
#include "d5/core/progress.hpp"
#include "d5/core/threads.hpp"
#include "d5/level1_network/framework_overhead.hpp"
#include "d5/level2_training/optimizer.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 net bench lenet --batch 64                 inference, and what the executor adds
  d5 net bench lenet --framework reference,torch --training
                                                a training step with SGD too, side by side
  d5 net bench model.onnx --framework torch+reference --out results.json)";

struct Options : app::OutputOptions, app::RunOptions, app::ModelArgument {
  bool training = false;
  MeasureOptions measuring;
};

/// One framework, ready to run: an executor by itself, or inside an optimizer.
struct Runnable {
  std::string word = {};
  std::shared_ptr<GraphExecutor> executor = {};
  std::shared_ptr<Optimizer> optimizer = {};  // null: inference
  Subject subject = {};
};

Runnable make_inference(const Options& options, const std::string& word) {
  Runnable one{.word = word};
  one.executor =
      app::open_executor(word, app::open_network(options, {{"seed", options.seed}}), options.seed);
  const auto inputs = std::make_shared<ValueMap>(
      app::random_inputs(one.executor->network(), options, options.seed));
  one.subject = {.name = options.model,
                 .run = [executor = one.executor, inputs] { executor->inference(*inputs); }};
  one.subject.run();  // throws here, not while measuring, if it cannot
  return one;
}

Runnable make_training(const Options& options, const std::string& word) {
  Runnable one{.word = word};
  const Settings model{{"seed", options.seed}, {"with_loss", true}, {"training", true}};
  auto executor = app::open_executor(word, app::open_network(options, model), options.seed);
  const std::string loss = app::loss_of(executor->network());
  if (loss.empty()) {
    throw Unsupported("the network has no scalar output 'loss' to train on; built-in ones have");
  }
  auto batch = std::make_shared<Batch>();
  batch->values = app::random_inputs(executor->network(), options, options.seed);
  batch->size = options.batch;
  // A rate so small that weights stay themselves however many steps are timed.
  one.optimizer =
      optimizers().at("sgd").make(std::move(executor), loss, {{"learning_rate", 1e-12}});
  one.executor = std::shared_ptr<GraphExecutor>(one.optimizer, &one.optimizer->executor());
  one.subject = {.name = options.model,
                 .run = [optimizer = one.optimizer, batch] { optimizer->step(*batch); }};
  one.subject.run();
  return one;
}

Measurement record(const Options& options, const std::string& word, const std::string& pass) {
  Measurement common;
  common.subject = options.model;
  common.command =
      fmt::format("d5 net bench {} --batch {}{}{}", options.model, options.batch,
                  pass == "training step" ? " --training" : "", app::to_line(options, word));
  common.level = "network";
  common.framework = word;
  common.framework_version = app::version_of(word);
  common.conditions["pass"] = pass;
  common.conditions["batch"] = fmt::format("{}", options.batch);
  return common;
}

void bench(const Options& options, const std::string& pass, std::vector<Measurement>& results) {
  std::vector<Runnable> runnables;
  std::vector<Subject> subjects;
  for (const auto& word : options.frameworks) {
    try {
      runnables.push_back(pass == "inference" ? make_inference(options, word)
                                              : make_training(options, word));
      subjects.push_back(runnables.back().subject);
    } catch (const Unsupported& error) {
      Measurement refused = record(options, word, pass);
      refused.metric = "time";
      refused.unit = "s";
      refused.status = Status::unsupported;
      refused.reason = error.what();
      results.push_back(std::move(refused));
    }
  }
  Progress progress(pass, std::int64_t(subjects.size()) + 1, {.unit = "measurements"});
  auto times = measure_interleaved(subjects, options.measuring, options.seed);
  for (std::size_t i = 0; i < times.size(); ++i) {
    progress.advance();
    const Measurement common = record(options, runnables[i].word, pass);
    app::describe(times[i], common);
    results.push_back(times[i]);
    if (!times[i].samples.empty()) {
      results.push_back(
          app::rate_record(times[i], "sample rate", "sample", static_cast<double>(options.batch)));
    }
    if (i > 0) results.push_back(app::ratio_record(times[i], times[0]));

    const auto overhead = std::make_shared<FrameworkOverhead>();
    std::vector<std::shared_ptr<Metric>> extra{overhead};
    for (const auto& name : options.metrics) extra.push_back(metrics().at(name).make());
    runnables[i].executor->events().add(overhead);
    for (auto& result : measure(subjects[i], extra, options.measuring)) {
      app::describe(result, common);
      results.push_back(std::move(result));
    }
    runnables[i].executor->events().remove(overhead.get());
  }
}

int run(const Options& options) {
  app::apply(options);
  pin_threads();
  std::vector<Measurement> results;
  bench(options, "inference", results);
  if (options.training) bench(options, "training step", results);
  return app::publish(std::move(results), options);
}

}  // namespace

void register_net_bench(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("net bench", "how fast is a network, and what does the executor add",
                              kExamples, [options] { return run(*options); });
  app::add_model_argument(command, *options);
  command.add_flag("--training", options->training, "time training steps too");
  app::add_measure_options(command, options->measuring);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
