// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <sstream>

#include "apps/ctrl_c.hpp"
#include "apps/given_line.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/report/plot.hpp"
#include "d5/core/screen/screen.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/level3_distributed/launching/scaling_study.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"

namespace d5::command {
namespace {

constexpr const char* kScaleExamples =
    R"(  d5 scale mnist-lenet-quick                    throughput on 1 and 2 ranks, 3 runs each
  d5 scale mnist-lenet-quick --ranks 1,2,4 --mode strong,weak --pictures DIR
  d5 scale mnist-lenet --distributed consistent_decentralized:all_reduce=ring,consistent_decentralized:all_reduce=node_memory
  d5 scale my.yaml --repeat 5 --out runs.json --resume
                                                continue after the runs that are done
  d5 scale mnist-lenet-quick --train "--wire 50us,1GB/s"
                                                further options of 'd5 train'

Each run is a 'd5 train' of its own, started by mpirun, with one thread per rank; the points take
turns. Efficiency is relative to the fewest ranks, run by run. More ranks than cores are mistrusted.)";

struct ScaleOptions : app::OutputOptions {
  std::string recipe, data, framework = "reference", pictures, train;
  ScalingGrid grid;
  std::vector<std::string> changes, metrics, load;
  std::int64_t runs = 3, threads = 1;
  bool resume = false;
};

/// The command line that all runs share.
std::vector<std::string> train_words(const ScaleOptions& options) {
  std::vector<std::string> words{own_command().front(), "train", options.recipe};
  for (const auto& change : options.changes) words.insert(words.end(), {"--set", change});
  if (!options.data.empty()) words.insert(words.end(), {"--data", options.data});
  for (const auto& metric : options.metrics) words.insert(words.end(), {"--metrics", metric});
  for (const auto& library : options.load) words.insert(words.end(), {"--load", library});
  words.insert(words.end(), {"--metrics", "throughput", "--framework", options.framework,
                             "--threads", std::to_string(options.threads), "--quiet"});
  std::istringstream more(options.train);
  for (std::string word; more >> word;) words.push_back(word);
  return words;
}

/// The command line that a resumed run must share.
std::string how_of(const ScaleOptions& options, const Recipe& recipe) {
  std::string how = "scale";
  for (const auto& word : train_words(options)) how += " " + word;
  return how + " " + recipe.checksum();
}

int run_scale(const ScaleOptions& options) {
  if (is_launched()) throw ValueError("scale: it starts ranks itself; leave out mpirun");
  if (options.resume && options.out.empty()) {
    throw ValueError("scale: --resume needs --out FILE, whose runs it continues");
  }
  if (options.load.empty()) ExecutorWord(options.framework).expect_known();  // else: maybe in it
  app::check_output(options);
  const auto points = points_of(options.grid);
  const Recipe recipe = load_recipe(options.recipe);
  if (!options.pictures.empty()) std::filesystem::create_directories(options.pictures);
  const Interrupt interrupt = app::ctrl_c();
  ScalingStudyOptions study{
      .repetition = {.runs = options.runs, .seed = recipe.training().seed, .interrupt = interrupt},
      .out = options.out,
      .resume = options.resume,
      .how = how_of(options, recipe),
      .command = app::given_line()};
  if (!options.quiet) {
    study.repetition.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  }
  const auto records =
      scaling_study(points, launched_training(train_words(options), interrupt), study);
  if (!options.out.empty()) app::say_written(options);
  if (!options.pictures.empty()) {
    const std::string file = std::filesystem::path(options.pictures) / "scaling.svg";
    write_file(file, to_svg(scaling_plot(records)));
    if (!options.quiet) fmt::print(stderr, "{} drawn\n", printable(file));
  }
  if (!is_for_people(options.format)) {
    app::print(Results{environment(), records}, options);
  } else {
    app::print(scaling_text(records, options.format, screen_of(STDOUT_FILENO).width),
               options.format);
  }
  return exit_status(records, options.if_unsupported);
}

}  // namespace

void register_scale(app::Program& program) {
  auto options = std::make_shared<ScaleOptions>();
  auto& command = program.add("scale", "measure how training scales with the number of ranks",
                              kScaleExamples, [=] { return run_scale(*options); });
  command.add_option("RECIPE", options->recipe, "recipe file, or the name of a built-in recipe")
      ->required();
  command.add_option("--ranks", options->grid.ranks, "numbers of ranks; the smallest is the base")
      ->delimiter(',')
      ->option_text("N,...");
  command
      .add_option("--distributed", options->grid.schemes,
                  "schemes with their options ('d5 list distributed-optimizers')")
      ->delimiter(',')
      ->option_text("NAME:KEY=VALUE,...");
  command
      .add_option("--mode", options->grid.scalings,
                  "scaling: strong splits the recipe's batch between the ranks, weak gives each "
                  "rank a whole batch")
      ->delimiter(',')
      ->option_text("strong,weak");
  command.add_option("--repeat", options->runs, "runs of each point, each from its own seed")
      ->transform(app::whole_number(1, 1000))
      ->option_text("N");
  command.add_option("--framework", options->framework, "framework that trains")
      ->option_text("NAME");
  command.add_option("--threads", options->threads, "threads per rank")
      ->transform(app::whole_number(1, 1024))
      ->option_text("N");
  command.add_option("--set", options->changes, "change to a value of the recipe; may be repeated")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  command.add_option("--data", options->data, "folder of the data set")->option_text("DIR");
  command.add_option("--metrics", options->metrics, "metrics to measure besides the recipe's")
      ->delimiter(',')
      ->option_text("NAME,...");
  command.add_option("--train", options->train, "further options of 'd5 train', in one word")
      ->option_text("WORDS");
  command
      .add_option("--pictures", options->pictures, "folder for a picture of throughput over ranks")
      ->option_text("DIR");
  command.add_flag("--resume", options->resume,
                   "keep the runs that --out holds, and make the others");
  app::add_load_option(command, options->load);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
