// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/repeated_training.hpp"
#include "apps/train_options.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/core/progress.hpp"
#include "d5/core/threads.hpp"
#include "d5/level2_training/training_plan.hpp"
#include "d5/level3_distributed/communicator_agreement.hpp"
#include "d5/level3_distributed/distributed_training.hpp"
#include "d5/level3_distributed/rank_check.hpp"
#include "d5/level3_distributed/rank_launch.hpp"

namespace d5::command {
namespace {

constexpr const char* kTrainExamples =
    R"(  d5 train mnist-lenet-quick                    a recipe that d5 carries ('d5 list recipes')
  d5 train my.yaml --set training.epochs=1 --set optimizer.learning_rate=0.01
  d5 train mnist-lenet-quick --vary optimizer.name=adam:learning_rate=0.001,momentum --pictures DIR
  d5 train mnist-lenet --repeat auto --out runs.json
                                                from several seeds: median, mean, and how sure
  d5 train mnist-lenet --data DIR --checkpoint run.ckpt --resume --out results.json
                                                continues if it was interrupted
  d5 train mnist-lenet --ranks 2                on two ranks of this machine; rank 0 prints
  mpirun -np 2 d5 train mnist-lenet             the same by your own mpirun (more ranks than
                                                cores: mpirun --oversubscribe)
  mpirun -np 2 d5 train mnist-lenet --distributed consistent_decentralized:all_reduce=ring
  mpirun -np 2 d5 train mnist-lenet --vary distributed.all_reduce=ring,mpi --pictures DIR

Ctrl-C ends training soon, and prints what was measured; twice: at once.
Exit status 1: training failed, changed no parameter, or missed what the recipe accepts.
--vary and --trials compare: what the recipe accepts fails none of them, and all runs are
made; exit status 1: one of them broke off.)";

/// Whether a failure is training's, and no wrong use; whether training was interrupted.
class TrainingWatch final : public TrainingEvent {
 public:
  void before_training(Trainer&) override { begun = true; }
  void after_training(Trainer& trainer) override { interrupted = trainer.interrupted(); }
  bool begun = false, interrupted = false;
};

int run_train(const app::TrainOptions& options) {
  if (options.launched_ranks > 1 && !is_launched()) {
    become_ranks(options.launched_ranks, own_command());
  }
  app::check(options);
  app::apply(options);
  if (options.threads == 0) share_threads();
  const auto ranks = app::ranks_of(options.ranks);
  if (ranks->rank() == 0) app::check_output(options);
  if (ranks->rank() != 0) Progress::set_quiet(true);
  if (ranks->rank() == 0 && !options.checkpoint.empty()) check_writable(options.checkpoint);
  if (ranks->rank() == 0 && !options.save.empty()) check_writable(options.save);
  const Recipe recipe = recipe_of(options);
  (void)distributed_options(recipe);  // names that stand nowhere are found on one rank too
  const Interrupt ctrl_c = app::ctrl_c();
  // What follows a training ends on all ranks or on none.
  bool ended = false;
  const Interrupt interrupt =
      ranks->size() == 1 ? ctrl_c : Interrupt{.wished = [&ended] { return ended; }};

  const auto train_on_ranks = [&](const Recipe& one, SessionOptions session) {
    if (options.ranks.check_ranks > 0) {
      session.observers.push_back(std::make_shared<RankCheck>(ranks, options.ranks.check_ranks));
    }
    const auto training = std::make_shared<TrainingWatch>();
    session.observers.push_back(training);
    try {
      auto results = train(one, std::move(session), ranks, ctrl_c);
      ended = ended || CommunicatorAgreement(ranks).any(training->interrupted);
      if (ended) app::end_with_others();
      app::describe(results, options.ranks);
      return results;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      if (!training->begun) throw;
      throw app::RunFailure(error.what());
    }
  };

  // A rank that exits with a failure while rank 0 still prints would end the job under its hands.
  const auto leave = [&](int status) {
    ranks->barrier();
    return status;
  };
  if (is_repeated(options)) {
    const auto train_once = [&](const TrainingVariant& variant) {
      SessionOptions session = session_of(options, variant.framework);
      session.say = {};  // a line a run is enough
      return train_on_ranks(variant.recipe, std::move(session));
    };
    return leave(train_repeatedly(options, recipe, train_once, *ranks, interrupt));
  }
  std::vector<Measurement> results;
  for (const auto& word : options.frameworks) {
    if (options.dry_run) {
      for (auto& plan : plan_training(recipe, session_of(options, word), interrupt)) {
        results.push_back(std::move(plan));
      }
      continue;
    }
    for (auto& result : train_on_ranks(recipe, session_of(options, word))) {
      results.push_back(std::move(result));
    }
    if (interrupt.due()) break;
  }
  return leave(ranks->rank() == 0 ? app::publish(std::move(results), options)
                                  : exit_status(results, options.if_unsupported));
}

}  // namespace

void register_train(app::Program& program) {
  auto options = std::make_shared<app::TrainOptions>();
  auto& command = program.add("train", "train by a recipe, under mpirun on all its ranks",
                              kTrainExamples, [=] { return run_train(*options); });
  command.add_option("RECIPE", options->recipe, "a recipe file, or the name of a carried one")
      ->required();
  command
      .add_option("--set", options->changes,
                  "change a value of the recipe's mutable part, or give an option that it does not "
                  "write; may be repeated")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  command.add_option("--data", options->data, "folder of the data set")->option_text("DIR");
  command.add_option("--checkpoint", options->checkpoint, "write checkpoints to this file")
      ->option_text("FILE");
  command.add_flag("--resume", options->resume,
                   "continue from the checkpoint, if it is there; of repeated runs, from --out");
  command.add_flag("--dry-run", options->dry_run,
                   "plan a step and say what would be trained, in which framework, in how many "
                   "bytes, and stop; under mpirun, of one rank");
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
  command
      .add_option("--distributed", options->distributed,
                  "how ranks work together: a scheme and its options ('d5 list "
                  "distributed-optimizers')")
      ->option_text("NAME:KEY=VALUE...")
      ->group("Under mpirun");
  command.add_option("--scaling", options->scaling, "the recipe's batch is of all ranks, or each")
      ->transform(app::one_of({{"strong", "strong"}, {"weak", "weak"}}))
      ->option_text("strong|weak")
      ->group("Under mpirun");
  command
      .add_option("--ranks", options->launched_ranks,
                  "start itself under mpirun on so many ranks of this machine")
      ->transform(app::whole_number(1, 4096))
      ->option_text("N");
  app::add_rank_options(command, options->ranks);
  app::add_training_rank_options(command, options->ranks);
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options);
  app::add_metrics_option(command, *options);
  command.get_option("--seed")->each([options](const std::string&) { options->seed_given = true; });
  app::add_output_options(command, *options);
  app::add_verdict_option(command, *options);
}

}  // namespace d5::command
