// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_search.hpp"

#include <fmt/format.h>

#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/given_line.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/rank_options.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/level3_distributed/communicator/communication_resources.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "d5/prediction/overlap/overlap_analysis.hpp"

namespace d5::command {
namespace {

constexpr const char* kOverlapSearchExamples =
    R"(  d5 overlap search --models lenet,resnet-18 --batch 16 --threads 1
  d5 overlap search --models lenet --resources default,threads=1:waiting=sleep --buckets 1MiB,25MiB
  d5 overlap search --models lenet --out search.json --resume
                                                continue after the rounds that are done
  d5 overlap report search.json                 the same tables again

Candidates train in turns, in blocks of steps. A gain is the median of paired ratios to the first
candidate. If its interval contains 1, no difference was found.)";

struct OverlapSearchCommand : app::OutputOptions, app::RunOptions {
  OverlapSearchOptions search;
  std::vector<std::string> resources = {"default", "threads=0", "threads=1",
                                        "threads=1:waiting=sleep"};
  std::vector<std::string> buckets;
  std::string budget = "2min";
  int started_ranks = 2;
  app::RankOptions ranks;
};

/// The candidate with the first size and the first resources is the base, and comes first.
std::vector<OverlapCandidate> candidates_of(const OverlapSearchCommand& options) {
  std::vector<OverlapCandidate> all;
  std::vector<std::int64_t> sizes;
  for (const auto& size : options.buckets) sizes.push_back(std::int64_t(byte_count(size)));
  if (sizes.empty()) sizes = {0};
  for (const std::int64_t size : sizes) {
    for (const auto& words : options.resources) all.push_back({words, size});
  }
  return all;
}

int run_overlap_search(const OverlapSearchCommand& options) {
  for (const auto& words : options.resources) expect_usable(resources_of(words));
  if (options.search.resume && options.out.empty()) {
    throw ValueError("overlap search: --resume needs --out FILE, whose rounds it continues");
  }
  app::start_ranks(options.started_ranks);
  app::apply(options);
  if (options.threads == 0) share_threads();
  const auto ranks = app::ranks_of(options.ranks);
  const bool speaks = ranks->rank() == 0;
  if (speaks) app::check_output(options);
  app::pin_ranks(*ranks);
  OverlapSearchOptions how = options.search;
  how.candidates = candidates_of(options);
  how.framework = options.frameworks.front();
  how.out = options.out;
  how.command = app::given_line();
  how.most_seconds = duration_seconds(options.budget);
  how.interrupt = app::ctrl_c();
  if (speaks && !options.quiet) how.say = [](const std::string& line) { app::say(line); };
  auto records = overlap_search(how, *ranks);
  if (speaks && !records.empty()) {
    if (!options.out.empty()) app::say_written(options);
    if (is_for_people(options.format)) {
      const OverlapGrid grid = overlap_grid_of(records);
      app::print(best_settings_table(grid), options.format);
      app::print("\n", options.format);
      app::print(single_settings_table(grid), options.format);
      app::print("\n", options.format);
      app::print(overlap_parts_table(records), options.format);
    } else {
      app::print(Results{environment(), std::move(records)}, options);
    }
  }
  ranks->barrier();  // a rank that fails while others are in a call would end the job
  return app::kPassed;
}

}  // namespace

void register_overlap_search(app::Program& program) {
  auto options = std::make_shared<OverlapSearchCommand>();
  auto& command =
      program.add("overlap search", "find the resources and bucket size that train a model fastest",
                  kOverlapSearchExamples, [=] { return run_overlap_search(*options); });
  command.add_option("--models", options->search.models, "models to train ('d5 list networks')")
      ->required()
      ->delimiter(',')
      ->option_text("A,B,...");
  command.add_option("--batch", options->search.batch, "batch size per rank")
      ->transform(app::whole_number(1))
      ->option_text("N");
  command
      .add_option("--resources", options->resources,
                  "resources of each all-reduce, the base first: default, or settings such as "
                  "threads=1:chunk=64KiB:cores=0+1:waiting=spin:poll=10us")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...");
  command.add_option("--buckets", options->buckets, "minimum bucket sizes, the base first")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("SIZE,...");
  command
      .add_option("--all-reduce", options->search.all_reduce, "algorithm ('d5 list all-reduces')")
      ->option_text("NAME");
  command.add_option("--rounds", options->search.rounds, "blocks of each candidate")
      ->transform(app::whole_number(1, 100000))
      ->option_text("N");
  command.add_option("--steps", options->search.steps_per_block, "steps per block")
      ->transform(app::whole_number(1, 1000))
      ->option_text("N");
  command
      .add_option("--budget", options->budget,
                  "time for all models (2min if left out); a model that runs out of time has fewer "
                  "rounds, and is mistrusted")
      ->option_text("TIME");
  app::add_started_ranks_option(command, options->started_ranks);
  command.add_flag("--resume", options->search.resume,
                   "keep the rounds that --out holds, and make the others");
  app::add_rank_options(command, options->ranks);
  app::add_framework_options(command, *options);
  app::add_process_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
