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
#include "apps/value_checks.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/core/progress.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level3_distributed/distributed_training.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 train mnist-lenet-quick                    a recipe that d5 carries ('d5 list recipes')
  d5 train my.yaml --set training.epochs=1 --set optimizer.learning_rate=0.01
  d5 train mnist-lenet --data DIR --checkpoint run.ckpt --resume --out results.json
                                                continues if it was interrupted
  mpirun -np 2 d5 train mnist-lenet             on two ranks; rank 0 prints (more ranks than
                                                cores: mpirun --oversubscribe)

Ctrl-C ends training soon, and prints what was measured; twice: at once.
Exit status 1: training failed, or missed what the recipe accepts.)";

struct Options : app::OutputOptions, app::RunOptions, app::ExecutionOptions {
  std::string recipe, data, checkpoint;
  std::vector<std::string> changes;
  bool resume = false;
  std::int64_t checkpoint_every = 500;
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

int run(const Options& options, bool seed_given) {
  if (options.resume && options.checkpoint.empty()) {
    throw ValueError("train: --resume needs --checkpoint FILE, which it continues from");
  }
  if (options.frameworks.size() > 1 && !options.checkpoint.empty()) {
    throw ValueError(
        "train: one checkpoint cannot serve several frameworks; train them one by one");
  }
  for (const auto& word : options.frameworks) {
    if (word.find(':') == std::string::npos || word.find('/') != std::string::npos) continue;
    throw ValueError(fmt::format(
        "train: --framework {}: training runs in d5's own executor; give the framework alone",
        printable(word)));
  }
  app::apply(options);
  if (options.threads == 0) share_threads();
  const auto ranks = world();
  if (ranks->rank() == 0) app::check_output(options);
  if (ranks->rank() != 0) Progress::set_quiet(true);
  if (ranks->rank() == 0 && !options.checkpoint.empty()) check_writable(options.checkpoint);
  const Recipe recipe = recipe_of(options, seed_given);
  const auto distributed = distributed_options(recipe, options.distributed);
  // mpirun ends all ranks by itself.
  const Interrupt interrupt = ranks->size() == 1 ? app::ctrl_c() : Interrupt{};

  std::vector<Measurement> results;
  for (const auto& word : options.frameworks) {
    for (auto& result : train(recipe, session_of(options, word), distributed, ranks, interrupt)) {
      results.push_back(std::move(result));
    }
    if (app::interrupted()) break;
  }
  const int status = ranks->rank() == 0 ? app::publish(std::move(results), options)
                                        : exit_status(results, options.if_unsupported);
  // A rank that exits with a failure while rank 0 still prints would end the job under its hands.
  ranks->barrier();
  return status;
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
  command.add_flag("--resume", options->resume, "continue from the checkpoint, if it is there");
  command
      .add_option("--checkpoint-every", options->checkpoint_every, "batches between two of them")
      ->needs(command.get_option("--checkpoint"))
      ->transform(app::whole_number(1))
      ->option_text("N");
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
