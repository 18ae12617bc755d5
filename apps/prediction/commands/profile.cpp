// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/execution_options.hpp"
#include "apps/options.hpp"
#include "apps/prediction/predicted_trace.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/core/screen/progress.hpp"
#include "d5/level0_ops/operator/size_range.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "d5/prediction/profile/profile_from_cost.hpp"
#include "d5/prediction/profile/profile_training.hpp"
#include "d5/prediction/training/local_prediction.hpp"
#include "d5/prediction/training_graphs/profile_table.hpp"
#include "d5/prediction/training_graphs/training_graph.hpp"

namespace d5::command {
namespace {

constexpr const char* kProfileExamples =
    R"(  d5 profile lenet --batch 16,32 --out lenet.json
                                                30 training steps of each, node by node
  d5 profile resnet-18 --batch 16 --copies 2 --framework onednn --out p.json
                                                two at once, like two ranks of one machine
  d5 profile mnist-lenet --batch 32 --out p.json
                                                a recipe, with its data and its optimizer
  d5 profile vgg-13 --batch 32 --from-cost 198ms --switch 10us --out p.json
                                                without running: each operator's FLOP, scaled to a
                                                known step time

Processes differ in speed by some percent, so the copies are started six times (--launches). Ctrl-C ends
it soon; launches that are whole are kept, and mistrusted.)";

constexpr double kUsualBudget = 120;  // time per batch size, in s
constexpr int kUsualLaunches = 6;

struct ProfileCommand : app::OutputOptions, app::RunOptions, app::ExecutionOptions {
  std::string model, batches, from_cost, graph, switch_time = "0s", budget;
  std::string least_time = "2s";
  int copies = 0;           ///< 0: one, or as many as a launcher has started
  int launches = 0;         ///< 0: the default, or the one launch of a launcher
  std::string launch_file;  ///< file of one launch, which another d5 started
  double flop_per_byte = 0;
  ProfileOptions profile;
};

TrainingProfile from_cost(const ProfileCommand& options) {
  const auto sizes = sizes_from(options.batches);
  if (sizes.size() != 1) throw ValueError("profile: --from-cost needs one --batch");
  return profile_from_cost(options.model, {.batch = sizes.front(),
                                           .step_seconds = duration_seconds(options.from_cost),
                                           .flop_per_byte = options.flop_per_byte,
                                           .switch_seconds = duration_seconds(options.switch_time),
                                           .changes = options.profile.changes,
                                           .data = options.profile.data});
}

/// The share of one launch in steps and time.
TrainingProfile observe(ProfileCommand options, int launches, Communicator& ranks) {
  if (options.frameworks.size() != 1) {
    throw ValueError(fmt::format("profile: --framework names {} frameworks; expected one",
                                 options.frameworks.size()));
  }
  if (options.threads == 0) share_threads();
  pin_threads(ranks.rank() * threads());
  ProfileOptions& profile = options.profile;
  profile.batches = sizes_from(options.batches);
  profile.launches = launches;
  profile.steps = std::max<std::int64_t>(2, (profile.steps + launches - 1) / launches);
  profile.least_seconds = duration_seconds(options.least_time) / launches;
  // On its own, mpirun ends all ranks.
  if (ranks.size() == 1) profile.interrupt = app::ctrl_c();
  const double budget = options.budget.empty()
                            ? kUsualBudget * static_cast<double>(profile.batches.size())
                            : duration_seconds(options.budget);
  profile.interrupt.deadline = now_seconds() + budget / launches;
  Progress progress("profile", profiled_steps(options.profile));
  options.profile.on_step = [&](std::int64_t batch) {
    progress.note(fmt::format("batch {}", batch));
    progress.advance();
  };
  return profile_training(options.model, options.frameworks.front(), options.profile,
                          app::execution_of(options, options), ranks);
}

TrainingProfile launched(const ProfileCommand& options, int launches) {
  LocalCommands commands;
  commands.profile = own_command();
  commands.launches = launches;
  if (!options.quiet) commands.say = [](const std::string& line) { app::say(line); };
  return profile_here(launched_ranks(commands, app::ctrl_c()), std::max(1, options.copies),
                      app::ctrl_c());
}

void publish(const ProfileCommand& options, const TrainingProfile& profile) {
  if (!options.out.empty()) write_training_profile(profile, options.out);
  if (!options.graph.empty()) {
    app::write_graph({.graph = one_rank_graph(profile, profile.batches.back().batch)},
                     options.graph);
  }
  if (options.format == Format::json) {
    app::print(to_json(profile), options.format);
  } else {
    app::print(profile_table(profile, options.format), options.format);
    for (const auto& reason : profile.mistrusted) {
      fmt::print(stderr, "mistrusted: {}\n", printable_message(reason));
    }
  }
  if (!options.out.empty()) app::say_written(options);
}

/// Profiles on the ranks that are running.
void run_one_launch(ProfileCommand options, int launches) {
  const bool is_part = !options.launch_file.empty();
  if (options.copies > 1 && !is_launched()) become_ranks(options.copies, own_command());
  app::apply(options);
  if (options.batches.empty()) {
    options.batches = std::to_string(usual_batch(options.model, options.profile.changes));
  }
  const auto ranks = world();
  if (options.copies > 0 && options.copies != ranks->size()) {
    throw ValueError(
        fmt::format("profile: --copies {}, but a launcher has started {}; leave it out",
                    options.copies, ranks->size()));
  }
  const bool speaks = ranks->rank() == 0;
  if (!speaks) Progress::set_quiet(true);
  if (speaks && !is_part && !options.out.empty()) check_writable(options.out);
  if (speaks && !is_part && !options.graph.empty()) check_writable(options.graph);
  const TrainingProfile profile =
      options.from_cost.empty() ? observe(options, launches, *ranks) : from_cost(options);
  if (speaks && is_part) {
    write_training_profile(profile, options.launch_file);
  } else if (speaks) {
    publish(options, profile);
  }
  ranks->barrier();
}

int run_profile(const ProfileCommand& options) {
  if (!options.from_cost.empty() && (options.copies > 1 || options.launches > 1)) {
    throw ValueError(
        "profile: --from-cost computes one copy once; leave out --copies and --launches");
  }
  if (options.from_cost.empty() &&
      (options.flop_per_byte > 0 || duration_seconds(options.switch_time) > 0)) {
    throw ValueError("profile: --flop-per-byte and --switch are of --from-cost; give it, too");
  }
  const bool is_part = !options.launch_file.empty();
  if (is_launched() && !is_part && options.launches > 1) {
    throw ValueError(
        fmt::format("profile: {} launches start copies themselves, and a launcher started these; "
                    "leave mpirun out, or --launches",
                    options.launches));
  }
  const bool is_one = is_part || is_launched() || !options.from_cost.empty();
  int launches = options.launches;
  if (launches == 0) launches = is_one && !is_part ? 1 : kUsualLaunches;
  if (is_one || launches == 1) {
    run_one_launch(options, launches);
    return 0;
  }
  app::apply(options);
  if (!options.out.empty()) check_writable(options.out);
  if (!options.graph.empty()) check_writable(options.graph);
  publish(options, launched(options, launches));
  return 0;
}

}  // namespace

void register_profile(app::Program& program) {
  auto options = std::make_shared<ProfileCommand>();
  auto& command = program.add("profile", "profile training steps, operator by operator",
                              kProfileExamples, [=] { return run_profile(*options); });
  command
      .add_option("MODEL", options->model,
                  "built-in network or .onnx file with a loss; or a recipe")
      ->required();
  command
      .add_option("--batch", options->batches,
                  "batch sizes, as 16,32; others are interpolated later (if left out: a recipe's "
                  "own, 16 of a model)")
      ->option_text("N,...");
  command
      .add_option("--copies", options->copies,
                  "number of copies that run at once without communicating, as ranks of one "
                  "machine slow each other")
      ->transform(app::whole_number(1, 4096))
      ->option_text("N");
  command
      .add_option(
          "--launches", options->launches,
          "number of times that the copies are started, which share steps and time, because "
          "processes differ by more than their steps do (6 if left out; under mpirun 1)")
      ->transform(app::whole_number(1, 1000))
      ->option_text("N");
  command.add_option("--launch-file", options->launch_file)
      ->group("");  // written by one of several launches
  command
      .add_option("--budget", options->budget,
                  "time limit of the profile: of all steps (2min for each size if left out); steps "
                  "that were done when it ends are kept, and mistrusted")
      ->option_text("TIME");
  command
      .add_option("--steps", options->profile.steps,
                  "steps to observe of each size, over all launches")
      ->transform(app::whole_number(2, 1000000))
      ->option_text("N");
  command
      .add_option("--least-time", options->least_time,
                  "minimum total time of the steps: more than --steps, 500 at most per launch, if "
                  "they take less")
      ->option_text("TIME");
  command
      .add_option("--optimizer", options->profile.optimizer,
                  "optimizer of a model; a recipe has its own")
      ->option_text("NAME:KEY=VALUE...");
  command.add_option("--set", options->profile.changes, "change to a value of the recipe")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  command.add_option("--data", options->profile.data, "folder of the recipe's data set")
      ->option_text("DIR");
  command
      .add_option("--from-cost", options->from_cost,
                  "skip measuring, and scale each operator's cost to this step time")
      ->option_text("TIME");
  command
      .add_option("--flop-per-byte", options->flop_per_byte,
                  "FLOP that take as long as one byte, with --from-cost; 0: count FLOP alone")
      ->transform(app::number_from_zero())
      ->option_text("X");
  command
      .add_option("--switch", options->switch_time, "time between two operators, with --from-cost")
      ->option_text("TIME");
  command
      .add_option(
          "--graph", options->graph,
          "graph of operations of a step of the largest size: .json, .dot, .svg, or a Chakra "
          "execution trace (PREFIX.RANK.et)")
      ->option_text("FILE");
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options);
  app::add_output_options(command, *options, app::kTableFormats);
}

}  // namespace d5::command
