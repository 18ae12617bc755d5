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
#include "d5/level2_training/convergence_reference.hpp"
#include "d5/level2_training/training_comparison.hpp"
#include "d5/level3_distributed/distributed_training.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 train mnist-lenet-quick                    a recipe that d5 carries ('d5 list recipes')
  d5 train my.yaml --set training.epochs=1 --set optimizer.learning_rate=0.01
  d5 train mnist-lenet-quick --vary optimizer.name=adam:learning_rate=0.001,momentum --pictures DIR
  d5 train mnist-lenet --repeat auto --out runs.json
                                                from several seeds: median, mean, and how sure
  d5 train mnist-lenet --data DIR --checkpoint run.ckpt --resume --out results.json
                                                continues if it was interrupted
  mpirun -np 2 d5 train mnist-lenet             on two ranks; rank 0 prints (more ranks than
                                                cores: mpirun --oversubscribe)

Ctrl-C ends training soon, and prints what was measured; twice: at once.
Exit status 1: training failed, or missed what the recipe accepts.)";

struct Options : app::OutputOptions, app::RunOptions, app::ExecutionOptions {
  std::string recipe, data, checkpoint, init, save, repeat, vary, pictures;
  std::int64_t trials = 0;
  bool make_reference = false;
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
  if (!options.pictures.empty()) session.metrics.emplace_back("dataset_latency");
  session.command_options = app::to_line(options);
  session.observers = {std::make_shared<EpochProgress>()};
  if (options.resume && std::filesystem::exists(options.checkpoint)) {
    session.resume = options.checkpoint;
  }
  if (!options.quiet)
    session.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  return session;
}

bool is_repeated(const Options& options) {
  return !options.repeat.empty() || !options.vary.empty() || !options.pictures.empty() ||
         options.trials > 0 || options.make_reference;
}

void check_variants(const Options& options) {
  const bool varies = !options.vary.empty() || options.trials > 0;
  if (options.trials > 0 && !options.vary.empty()) {
    throw ValueError("train: --vary and --trials both choose what is trained; give one");
  }
  if (options.make_reference && (varies || options.frameworks.size() > 1)) {
    throw ValueError("train: a reference is of the recipe as it is, in one framework");
  }
  if (options.make_reference) {
    if (!options.changes.empty()) {
      throw ValueError("train: a reference is of the recipe as it is, without --set");
    }
    if (!std::filesystem::is_regular_file(options.recipe)) {
      throw ValueError("train: --make-reference writes into the recipe; give its file");
    }
    check_writable(options.recipe);
  }
  if (!options.pictures.empty()) std::filesystem::create_directories(options.pictures);
}

void check(const Options& options) {
  check_variants(options);
  const bool repeats = is_repeated(options);
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
  if (options.init_skips_differing && options.init.empty()) {
    throw ValueError(
        "train: --init-skip-differing needs --init FILE, whose parameters it is about");
  }
  if (options.frameworks.size() > 1 && !options.checkpoint.empty()) {
    throw ValueError(
        "train: one checkpoint cannot serve several frameworks; train them one by one");
  }
  if (repeats && !options.save.empty()) {
    throw ValueError(
        "train: --save is one network, but repeated runs train one each; leave one out");
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

RepetitionOptions repetition_of(const Options& options, const Recipe& recipe,
                                const Interrupt& interrupt) {
  RepetitionOptions repetition{.runs = 1, .seed = recipe.training().seed, .interrupt = interrupt};
  if (options.make_reference) repetition.runs = kFewestReferenceRuns;
  if (!options.repeat.empty()) repetition.runs = app::runs_of(options.repeat);
  if (options.make_reference && repetition.runs < kFewestReferenceRuns) {
    throw ValueError(
        fmt::format("train: --make-reference takes {} runs or more, and --repeat says "
                    "{}",
                    kFewestReferenceRuns, printable(options.repeat)));
  }
  return repetition;
}

void draw(const Options& options, const std::vector<ComparedTraining>& trainings) {
  for (const Plot& plot : {accuracy_plot(trainings), loss_plot(trainings)}) {
    if (plot.marks.empty()) continue;
    const std::string file = (std::filesystem::path(options.pictures) / (plot.name + ".svg"));
    write_file(file, to_svg(plot));
    if (!options.quiet) fmt::print(stderr, "{} drawn\n", printable(file));
  }
}

/// Of trials: which has the best number, by its metric's direction.
void say_best(const std::vector<app::TrainingVariant>& variants,
              const std::vector<std::vector<Measurement>>& joined) {
  std::size_t best = variants.size();
  double value = 0;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const auto place = std::ranges::find(joined[i], "test_accuracy", &Measurement::metric);
    if (place == joined[i].end() || place->samples.empty()) continue;
    const double accuracy = estimate(*place).value;
    if (best < variants.size() && accuracy <= value) continue;
    best = i, value = accuracy;
  }
  if (best == variants.size()) return;
  std::string settings;
  for (const auto& [key, text] : variants[best].differs) {
    settings += fmt::format(" --set {}={}", key, text);
  }
  fmt::print(stderr, "best of {} trials, test_accuracy {:.4g}:{}\n", variants.size(), value,
             settings);
}

/// A recipe from several seeds, in several variants and frameworks: the runs of each joined to one
/// record a metric.
int run_repeatedly(const Options& options, const Recipe& recipe,
                   const app::RepeatedTraining::TrainOnce& train_once, Communicator& ranks,
                   const Interrupt& interrupt) {
  using Repeated = app::RepeatedTraining;
  if (options.resume && ranks.size() > 1) {
    throw ValueError("train: --resume of repeated runs is of one rank; several begin anew");
  }
  const bool speaks = ranks.rank() == 0;
  const auto write = speaks ? Repeated::Write::yes : Repeated::Write::no;
  std::vector<app::TrainingVariant> variants{{.recipe = recipe}};
  if (!options.vary.empty()) variants = app::vary(recipe, options.vary);
  if (options.trials > 0) variants = app::variants_of_trials(recipe, options.trials);
  Repeated repeated(app::in_each(variants, options.frameworks), train_once, words_of(options));
  RepetitionOptions repetition = repetition_of(options, recipe, interrupt);
  if (!options.quiet && speaks) {
    repetition.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  }
  repeated.run(repetition, options,
               options.resume ? Repeated::Begin::resumed : Repeated::Begin::anew, write);

  std::vector<std::vector<Measurement>> each;
  std::vector<ComparedTraining> trainings;
  std::vector<Measurement> joined;
  const auto append = [&](std::vector<Measurement> records) {
    joined.insert(joined.end(), records.begin(), records.end());
  };
  for (std::size_t i = 0; i < repeated.variants().size(); ++i) {
    const auto& variant = repeated.variants()[i];
    trainings.push_back({variant.name, repeated.runs()[i]});
    each.push_back(join_runs(repeated.runs()[i]));
    judge_convergence(each.back(), variant.recipe);
    append(each.back());
    if (!options.vary.empty() && i > 0) append(compare_trainings(trainings[i], trainings[0]));
  }
  if (!options.pictures.empty() && speaks) draw(options, trainings);
  if (options.trials > 0 && speaks && !options.quiet) say_best(repeated.variants(), each);
  const int status = repeated.publish(joined, options, write);
  if (options.make_reference && speaks && !interrupt.due()) {
    write_file(options.recipe, with_reference(recipe, each.front()));
    if (!options.quiet) {
      fmt::print(stderr, "reference written to {}\n", printable(options.recipe));
    }
  }
  return status;
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
  if (is_repeated(options)) {
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
      .add_option("--vary", options->vary,
                  "trains with each of several values, interleaved, and compares them with the "
                  "first")
      ->option_text("KEY=A,B,...");
  command
      .add_option("--trials", options->trials,
                  "trains at so many points of the recipe's ranges (Halton's), and tells the best")
      ->transform(app::whole_number(1, 10000))
      ->option_text("N");
  command.add_flag("--make-reference", options->make_reference,
                   "writes the samples to accuracy of 10 runs or more into the recipe; later "
                   "repeated runs are held against them");
  command
      .add_option("--pictures", options->pictures, "draws accuracy over epochs and loss over time")
      ->option_text("DIR");
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
  command.add_flag("--init-skip-differing", options->init_skips_differing,
                   "leave parameters as they are that have another shape or type in --init's file");
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
