// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/declared_options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/repeated_training.hpp"
#include "apps/train_options.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/screen/progress.hpp"
#include "d5/level2_training/training/training_plan.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "d5/level3_distributed/schemes/rank_check.hpp"

namespace d5::command {
namespace {

constexpr const char* kTrainExamples =
    R"(  d5 train mnist-lenet-quick                    a built-in recipe ('d5 list recipes')
  d5 train my.yaml --set training.epochs=1 --set optimizer.learning_rate=0.01
  d5 train mnist-lenet-quick --vary optimizer.name=adam:learning_rate=0.001,momentum --pictures DIR
  d5 train mnist-lenet --repeat auto --out runs.json
                                                several seeds: median and mean, with intervals
  d5 train mnist-lenet --data DIR --checkpoint run.ckpt --resume --out results.json
                                                continue an interrupted run
  d5 train mnist-lenet --ranks 2                on two ranks of this machine; rank 0 prints
  mpirun -np 2 d5 train mnist-lenet             the same with your own mpirun (more ranks than
                                                cores: mpirun --oversubscribe)
  mpirun -np 2 d5 train mnist-lenet --distributed consistent_decentralized:all_reduce=ring
  mpirun -np 2 d5 train mnist-lenet --vary distributed.all_reduce=ring,mpi --pictures DIR

Ctrl-C ends training soon and prints what was measured; a second Ctrl-C kills it.
Exit status 1: training failed, changed no parameter, or missed the recipe's acceptance criteria.
--vary and --trials compare: all runs are made, and the acceptance criteria fail none of them; exit
status 1: one of them broke off.)";

/// Tells failures of the training from bad usage, and whether training was interrupted.
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
  const auto ranks = app::ranks_of(options.ranks, options.ranks.fault);
  if (ranks->rank() == 0) app::check_output(options);
  if (ranks->rank() != 0) Progress::set_quiet(true);
  if (ranks->rank() == 0 && !options.checkpoint.empty()) check_writable(options.checkpoint);
  if (ranks->rank() == 0 && !options.save.empty()) check_writable(options.save);
  const Recipe recipe = recipe_of(options);
  (void)distributed_options(recipe);  // finds unknown names on one rank, too
  const Interrupt ctrl_c = app::ctrl_c();
  // Work that follows a training ends on all ranks or on none.
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

  // A rank that exits with a failure while rank 0 still prints would end the job before the output
  // is complete.
  const auto leave = [&](int status) {
    ranks->barrier();
    return status;
  };
  if (is_repeated(options)) {
    const auto train_once = [&](const TrainingVariant& variant) {
      SessionOptions session = session_of(options, variant.framework);
      session.say = {};  // one line per run is enough
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
  auto& command = program.add("train", "train by a recipe, on one rank or several", kTrainExamples,
                              [=] { return run_train(*options); });
  command.add_option("RECIPE", options->recipe, "recipe file, or the name of a built-in recipe")
      ->required();
  command
      .add_option("--set", options->changes,
                  "change to a value of the recipe's mutable part, or an option that it does not "
                  "give; may be repeated")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  app::add_declared_options(command, *options, "Training");
  for (const char* of_checkpoints : {"--checkpoint-every", "--keep"}) {
    command.get_option(of_checkpoints)->needs(command.get_option("--checkpoint"));
  }
  for (const char* of_ranks : {"--distributed", "--scaling"}) {
    command.get_option(of_ranks)->group("Under mpirun");
  }
  command
      .add_option("--ranks", options->launched_ranks,
                  "number of ranks of this machine to start under mpirun")
      ->transform(app::whole_number(1, 4096))
      ->option_text("N");
  app::add_rank_options(command, options->ranks);
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options);
  app::add_metrics_option(command, *options);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
