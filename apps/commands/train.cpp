// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "apps/ctrl_c.hpp"
#include "apps/execution_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/repeated_training.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/core/progress.hpp"
#include "d5/core/threads.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level3_distributed/distributed_training.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 train mnist-lenet-quick                    a recipe that d5 carries ('d5 list recipes')
  d5 train my.yaml --set training.epochs=1 --set optimizer.learning_rate=0.01
  d5 train mnist-lenet --repeat auto --out runs.json
                                                from several seeds: median, mean, and how sure
  d5 train mnist-lenet --data DIR --checkpoint run.ckpt --resume --out results.json
                                                continues if it was interrupted
  mpirun -np 2 d5 train mnist-lenet             on two ranks; rank 0 prints (more ranks than
                                                cores: mpirun --oversubscribe)

Ctrl-C ends training soon, and prints what was measured; twice: at once.
Exit status 1: training failed, or missed what the recipe accepts.)";

struct Options : app::OutputOptions, app::RunOptions, app::ExecutionOptions {
  std::string recipe, data, checkpoint, repeat, init, save;
  std::vector<std::string> changes;
  bool resume = false, init_skips_differing = false;
  std::int64_t checkpoint_every = 500, keep = 1;
  int loader_threads = 0;
  DistributedChanges distributed;
};

/// How far the epoch is, and its last loss, on stderr.
class EpochProgress final : public TrainingEvent {
 public:
  void before_epoch(Trainer& trainer, std::int64_t epoch) override {
    progress_.emplace(fmt::format("epoch {}", epoch + 1), trainer.train_sampler().batches(),
                      ProgressOptions{.unit = "batches"});
  }
  void after_batch(Trainer& trainer, const Batch&, const ValueMap& outputs) override {
    if (!progress_) return;  // resumed within an epoch
    const Tensor& loss = outputs.find(trainer.optimizer().loss())->second.tensor();
    if (loss.dtype() == DType::float32) {
      progress_->note(fmt::format("loss {:.3f}", loss.item<float>()));
    }
    progress_->advance();
  }
  void before_test(Trainer&) override { progress_.reset(); }
  void after_training(Trainer&) override { progress_.reset(); }

 private:
  std::optional<Progress> progress_;
};

Recipe recipe_of(const Options& options, bool seed_given) {
  Recipe recipe = load_recipe(options.recipe);
  for (const auto& change : options.changes) recipe.set(change);
  if (seed_given) recipe.set(fmt::format("training.seed={}", options.seed));
  return recipe;
}

SessionOptions session_of(const Options& options, const std::string& word) {
  SessionOptions session;
  session.frameworks = frameworks_in(word);
  session.placement = app::placement_of(options);
  session.device = device_from_name(options.device);
  session.memory_limit = options.memory_limit;
  session.recompute = options.recompute;
  session.data = options.data;
  session.checkpoint = options.checkpoint;
  session.checkpoint_every = options.checkpoint_every;
  session.checkpoints_kept = options.keep;
  session.init.path = options.init;
  if (options.init_skips_differing) session.init.differing = InitialValues::Differing::leave;
  session.save = options.save;
  session.loader_threads = options.loader_threads;
  session.metrics = app::metrics_of(options, {});
  session.command_options = app::to_line(options);
  session.observers = {std::make_shared<EpochProgress>()};
  if (options.resume && std::filesystem::exists(options.checkpoint)) {
    session.resume = options.checkpoint;
  }
  if (!options.quiet)
    session.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  return session;
}

void check(const Options& options) {
  const bool repeats = !options.repeat.empty();
  if (options.resume && !repeats && options.checkpoint.empty()) {
    throw ValueError("train: --resume needs --checkpoint FILE, which it continues from");
  }
  if (options.resume && repeats && options.out.empty()) {
    throw ValueError("train: --resume of repeated runs needs --out FILE, which it goes on with");
  }
  if (repeats && !options.checkpoint.empty()) {
    throw ValueError(
        "train: one checkpoint cannot serve several runs; --out FILE keeps those that are done, "
        "and --resume goes on from there");
  }
  if (options.frameworks.size() > 1 && !options.checkpoint.empty()) {
    throw ValueError(
        "train: one checkpoint cannot serve several frameworks; train them one by one");
  }
  if (repeats && !options.save.empty()) {
    throw ValueError("train: --save is one network, but repeated runs train one each; leave one out");
  }
  if (options.frameworks.size() > 1 && !options.save.empty()) {
    throw ValueError("train: --save is one network, but several frameworks train one each");
  }
  for (const auto& word : options.frameworks) {
    if (word.find(':') == std::string::npos || word.find('/') != std::string::npos) continue;
    throw ValueError(fmt::format(
        "train: --framework {}: training runs in d5's own executor; give the framework alone",
        printable(word)));
  }
}

/// What runs that belong together share, besides the recipe.
std::string words_of(const Options& options) {
  CommandLine line("");
  line.option("--device", options.device).option("--threads", threads());
  if (!options.data.empty()) line.option("--data", options.data);
  for (const auto& metric : options.metrics) line.option("--metrics", metric);
  return line.append(app::to_line(options)).text();
}

/// Each framework's runs joined to one record a metric.
int run_repeatedly(const Options& options, const Recipe& recipe,
                   const app::RepeatedTraining::TrainOnce& train_once, Communicator& ranks,
                   const Interrupt& interrupt) {
  using Repeated = app::RepeatedTraining;
  if (options.resume && ranks.size() > 1) {
    throw ValueError("train: --resume of repeated runs is of one rank; several begin anew");
  }
  const auto write = ranks.rank() == 0 ? Repeated::Write::yes : Repeated::Write::no;
  std::vector<app::TrainingVariant> variants;
  for (const auto& word : options.frameworks) {
    variants.push_back(
        {.name = options.frameworks.size() > 1 ? word : "", .recipe = recipe, .framework = word});
  }
  Repeated repeated(std::move(variants), train_once, words_of(options));
  RepetitionOptions repetition{
      .runs = app::runs_of(options.repeat), .seed = recipe.training().seed, .interrupt = interrupt};
  if (!options.quiet && ranks.rank() == 0) {
    repetition.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  }
  repeated.run(repetition, options,
               options.resume ? Repeated::Begin::resumed : Repeated::Begin::anew, write);
  std::vector<Measurement> joined;
  for (const auto& runs : repeated.runs()) {
    for (auto& result : join_runs(runs)) joined.push_back(std::move(result));
  }
  return repeated.publish(joined, options, write);
}

int run(const Options& options, bool seed_given) {
  check(options);
  app::apply(options);
  if (options.threads == 0) share_threads();
  const auto ranks = world();
  if (ranks->rank() == 0) app::check_output(options);
  if (ranks->rank() != 0) Progress::set_quiet(true);
  if (ranks->rank() == 0 && !options.checkpoint.empty()) check_writable(options.checkpoint);
  if (ranks->rank() == 0 && !options.save.empty()) check_writable(options.save);
  const Recipe recipe = recipe_of(options, seed_given);
  const auto distributed = distributed_options(recipe, options.distributed);
  // mpirun ends all ranks by itself.
  const Interrupt interrupt = ranks->size() == 1 ? app::ctrl_c() : Interrupt{};

  // A rank that exits with a failure while rank 0 still prints would end the job under its hands.
  const auto ended = [&](int status) {
    ranks->barrier();
    return status;
  };
  if (!options.repeat.empty()) {
    const auto train_once = [&](const app::TrainingVariant& variant) {
      SessionOptions session = session_of(options, variant.framework);
      session.say = {};  // a line a run is enough
      return train(variant.recipe, std::move(session), distributed, ranks, interrupt);
    };
    return ended(run_repeatedly(options, recipe, train_once, *ranks, interrupt));
  }
  std::vector<Measurement> results;
  for (const auto& word : options.frameworks) {
    for (auto& result : train(recipe, session_of(options, word), distributed, ranks, interrupt)) {
      results.push_back(std::move(result));
    }
    if (app::interrupted()) break;
  }
  return ended(ranks->rank() == 0 ? app::publish(std::move(results), options)
                                  : exit_status(results, options.if_unsupported));
}

}  // namespace

void register_train(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto seed_given = std::make_shared<bool>(false);
  auto& command = program.add("train", "train by a recipe, under mpirun on all its ranks",
                              kExamples, [=] { return run(*options, *seed_given); });
  command.add_option("RECIPE", options->recipe, "a recipe file, or the name of a carried one")
      ->required();
  command
      .add_option("--set", options->changes,
                  "change a value of the recipe's mutable part; may be repeated")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  command.add_option("--data", options->data, "folder of the data set")->option_text("DIR");
  command.add_option("--checkpoint", options->checkpoint, "write checkpoints to this file")
      ->option_text("FILE");
  command.add_flag("--resume", options->resume,
                   "continue from the checkpoint, if it is there; of repeated runs, from --out");
  command
      .add_option("--repeat", options->repeat,
                  "runs from so many seeds; auto: 5, then until the mean's 95% interval is within "
                  "5%, 30 at most")
      ->option_text("N|auto");
  command
      .add_option("--checkpoint-every", options->checkpoint_every, "batches between two of them")
      ->needs(command.get_option("--checkpoint"))
      ->transform(app::whole_number(1))
      ->option_text("N");
  command
      .add_option("--keep", options->keep, "how many checkpoints stay, older ones as FILE.step-N")
      ->needs(command.get_option("--checkpoint"))
      ->transform(app::whole_number(1))
      ->option_text("N");
  command
      .add_option(
          "--init", options->init,
          "begin with the parameters in this file, by their names: safetensors, a checkpoint, ONNX")
      ->option_text("FILE");
  command
      .add_flag("--init-skip-differing", options->init_skips_differing,
                "leave parameters as they are that have another shape or type in --init's file")
      ->needs(command.get_option("--init"));
  command
      .add_option("--save", options->save,
                  "write the trained network, without its loss, to this file")
      ->option_text("FILE.onnx");
  command
      .add_option("--loader-threads", options->loader_threads,
                  "that read batches ahead, of the same bits; 0: training reads by itself")
      ->transform(app::whole_number(0, 1024))
      ->option_text("N");
  auto& distributed = options->distributed;
  command.add_option("--distributed", distributed.scheme, "how ranks work together")
      ->option_text("NAME")
      ->group("Under mpirun");
  command
      .add_option("--scaling", distributed.scaling, "the recipe's batch is of all ranks, or each")
      ->transform(app::one_of({{"strong", "strong"}, {"weak", "weak"}}))
      ->option_text("strong|weak")
      ->group("Under mpirun");
  command.add_option("--all-reduce", distributed.all_reduce, "how gradients are summed")
      ->option_text("NAME")
      ->group("Under mpirun");
  command.add_option("--bucket-bytes", distributed.bucket_bytes, "least size of a message")
      ->transform(app::whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->option_text("N")
      ->group("Under mpirun");
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options);
  app::add_metrics_option(command, *options);
  command.get_option("--seed")->each([seed_given](const std::string&) { *seed_given = true; });
  app::add_output_options(command, *options);
  app::add_verdict_option(command, *options);
}

}  // namespace d5::command
