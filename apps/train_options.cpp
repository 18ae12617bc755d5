// SPDX-License-Identifier: Apache-2.0
#include "apps/train_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/screen/progress.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"

namespace d5::app {
namespace {

/// Prints the epoch's progress and last loss on stderr.
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

void check_variants(const TrainOptions& options) {
  const bool varies = !options.vary.empty() || options.trials > 0;
  if (options.trials > 0 && !options.vary.empty()) {
    throw ValueError("train: --vary and --trials both choose what to train; give one");
  }
  if (options.make_reference && (varies || options.frameworks.size() > 1)) {
    throw ValueError("train: --make-reference needs the unchanged recipe, in one framework");
  }
  if (options.make_reference) {
    if (!options.changes.empty()) {
      throw ValueError("train: --make-reference needs the unchanged recipe, without --set");
    }
    if (!std::filesystem::is_regular_file(options.recipe)) {
      throw ValueError("train: --make-reference writes into the recipe; give its file");
    }
    check_writable(options.recipe);
  }
  if (!options.pictures.empty()) std::filesystem::create_directories(options.pictures);
}

}  // namespace

void TrainOptions::declare(OptionList& options) {
  const OptionText file{.placeholder = "FILE"}, folder{.placeholder = "DIR"};
  options.add("data", data, "folder of the data set", folder);
  options.add("checkpoint", checkpoint, "file to write checkpoints to", file);
  options.add("checkpoint_every", checkpoint_every, "batches between two checkpoints",
              {.least = 1});
  options.add("keep", keep, "number of checkpoints to keep, older ones as FILE.step-N",
              {.least = 1});
  options.add("resume", resume,
              "continue from the checkpoint, if it exists; repeated runs continue from --out");
  options.add("dry_run", dry_run,
              "plan one step, print its framework and memory, and stop; under mpirun, of one rank");
  options.add("repeat", repeat,
              "number of runs, each from its own seed; auto: 5, then until the mean's 95% interval "
              "is within 5%, 30 at most",
              {.placeholder = "N|auto"});
  options.add("vary", vary, "values to train with, interleaved, and to compare with the first",
              {.placeholder = "KEY=A,B,..."});
  options.add("trials", trials,
              "number of points of the recipe's search ranges (Halton sequence) to train at, to "
              "find the best; 0: as the recipe says",
              {.least = 0, .most = 10000});
  options.add("make_reference", make_reference,
              "write the samples to accuracy of 10 runs or more into the recipe, as the reference "
              "of later repeated runs");
  options.add("pictures", pictures,
              "folder for pictures of accuracy over epochs and loss over time", folder);
  options.add("init", init,
              "begin with the parameters in this file, by their names: safetensors, a checkpoint, "
              "ONNX",
              file);
  options.add("init_skip_differing", init_skip_differing,
              "keep parameters whose shape or type differs in --init's file");
  options.add("save", save, "file to write the trained network to, without its loss",
              {.placeholder = "FILE.onnx"});
  options.add(
      "loader_threads", loader_threads,
      "threads that read batches ahead, with identical results; 0: the training thread reads",
      {.least = 0, .most = 1024});
  options.add("distributed", distributed,
              "scheme of distributed training and its options ('d5 list distributed-optimizers')",
              {.placeholder = "NAME:KEY=VALUE..."});
  options.add("scaling", scaling,
              "scaling: strong splits the recipe's batch between the ranks, weak gives each rank a "
              "whole batch",
              {.words = {"strong", "weak"}});
}

Recipe recipe_of(const TrainOptions& options) {
  Recipe recipe = load_recipe(options.recipe);
  // Set first: another scheme drops the options of the one before.
  if (!options.distributed.empty()) recipe.set("distributed.name=" + options.distributed);
  for (const auto& change : options.changes) recipe.set(change);
  if (!options.scaling.empty()) recipe.set("distributed.scaling=" + options.scaling);
  if (options.seed_given) recipe.set(fmt::format("training.seed={}", options.seed));
  return recipe;
}

SessionOptions session_of(const TrainOptions& options, const std::string& word) {
  SessionOptions session;
  session.frameworks = ExecutorWord(word).frameworks();
  session.placement = placement_of(options);
  session.device = device_from_name(options.device);
  session.memory_limit = options.memory_limit;
  session.recompute = options.recompute;
  session.data = options.data;
  session.checkpoint = options.checkpoint;
  session.checkpoint_every = options.checkpoint_every;
  session.checkpoints_kept = options.keep;
  session.init.path = options.init;
  if (options.init_skip_differing) session.init.differing = InitialValues::Differing::leave;
  session.save = options.save;
  session.loader_threads = options.loader_threads;
  session.metrics = metrics_of(options, {});
  if (!options.pictures.empty()) session.metrics.emplace_back("dataset_latency");
  session.command_options = to_line(options.ranks) + to_line(options);
  session.observers = {std::make_shared<EpochProgress>()};
  const bool resumes = options.resume && !options.checkpoint.empty();
  const bool there = resumes && std::filesystem::exists(options.checkpoint);
  if (there) session.resume = options.checkpoint;
  const bool speaks = !options.quiet && (!is_launched() || world()->rank() == 0);
  if (resumes && !there && speaks) {
    fmt::print(stderr, "{}: no such checkpoint yet; training starts at step 0",
               printable(options.checkpoint));
  }
  if (!options.quiet)
    session.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  return session;
}

bool is_repeated(const TrainOptions& options) {
  return !options.repeat.empty() || !options.vary.empty() || !options.pictures.empty() ||
         options.trials > 0 || options.make_reference;
}

void check(const TrainOptions& options) {
  check_variants(options);
  if (!(options.distributed + options.scaling).empty() && !is_launched()) {
    throw ValueError(
        "train: --distributed and --scaling are for several ranks, and this is a single process; "
        "give --ranks N, or start it by mpirun -np N");
  }
  if (options.launched_ranks > 1 && options.launched_ranks != world()->size()) {
    throw ValueError(fmt::format("train: --ranks {}, but a launcher has started {}; leave it out",
                                 options.launched_ranks, world()->size()));
  }
  const bool repeats = is_repeated(options);
  if (options.resume && !repeats && options.checkpoint.empty()) {
    throw ValueError("train: --resume needs --checkpoint FILE, which it continues from");
  }
  if (options.resume && repeats && options.out.empty()) {
    throw ValueError("train: --resume of repeated runs needs --out FILE, whose runs it continues");
  }
  if (repeats && !options.checkpoint.empty()) {
    throw ValueError(
        "train: one checkpoint cannot serve several runs; --out FILE keeps finished runs, and "
        "--resume continues after them");
  }
  if (options.dry_run && (repeats || !options.out.empty())) {
    throw ValueError(
        "train: --dry-run plans one training and measures nothing; leave out --out, --repeat, "
        "--vary and --trials");
  }
  if (options.init_skip_differing && options.init.empty()) {
    throw ValueError("train: --init-skip-differing needs --init FILE");
  }
  if (options.frameworks.size() > 1 && !options.checkpoint.empty()) {
    throw ValueError(
        "train: one checkpoint cannot serve several frameworks; train them one by one");
  }
  if (repeats && !options.save.empty()) {
    throw ValueError(
        "train: --save writes one network, but repeated runs train one each; leave one out");
  }
  if (options.frameworks.size() > 1 && !options.save.empty()) {
    throw ValueError("train: --save writes one network, but several frameworks train one each");
  }
  for (const auto& word : options.frameworks) {
    if (!ExecutorWord(word).is_own() || word.find('/') != std::string::npos) continue;
    throw ValueError(fmt::format(
        "train: --framework {}: training runs in d5's own executor; give the framework alone",
        printable(word)));
  }
}

}  // namespace d5::app
