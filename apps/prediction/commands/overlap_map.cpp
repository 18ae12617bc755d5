// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_map.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/given_line.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/rank_options.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "d5/prediction/overlap/overlap_map_rounds.hpp"

namespace d5::command {
namespace {

constexpr const char* kOverlapMapExamples =
    R"(  d5 overlap map --threads 1                    the kernels of a published study, small
  d5 overlap map --scale memory --out monday.json --pictures DIR
  d5 overlap map "Gemm 512x512 512x512" --resources threads=0,threads=1:waiting=spin
  d5 overlap map --model lenet --batch 16 --framework torch
  mpirun -np 4 d5 overlap map --all-reduce ring --progress thread
  d5 overlap map --compare monday.json tuesday.json
                                                the share of cells whose intervals overlap

A cell holds two slowdowns: of a kernel beside all-reduces, and of an all-reduce beside the kernel; 1.00
is as fast as alone. A '?' marks a mistrusted cell. Intervals are over rounds, and each round starts
its ranks again. With 'mpirun --bind-to none' the all-reduces' threads may use cores other than their
rank's.)";

struct OverlapMapCommand : app::OutputOptions, app::RunOptions {
  std::vector<std::string> cases, resources = {"threads=0", "threads=1", "threads=1:waiting=sleep"};
  std::vector<std::string> compared;
  std::string all_reduce = "node_memory", bytes = "1MiB", model, pictures;
  KernelScale scale = KernelScale::l2;
  std::int64_t batch = 16;
  std::string budget = "2min";
  int pairs = 30, rounds = 0, started_ranks = 2;
  bool force = false;
  std::string round_file;  ///< file of one round, which another d5 started
  app::RankOptions ranks;
};

std::vector<OverlapKernel> kernels_of(const OverlapMapCommand& options) {
  const std::string& framework = options.frameworks.front();
  if (!options.model.empty()) return kernels_of_network(options.model, options.batch, framework);
  return kernels_of_cases(options.cases.empty() ? study_kernel_cases(options.scale) : options.cases,
                          framework);
}

void draw_map(const std::vector<Measurement>& records, const OverlapMapCommand& options) {
  std::filesystem::create_directories(options.pictures);
  for (const Plot& plot : overlap_map_plots(records)) {
    const auto file = std::filesystem::path(options.pictures) / plot.name;
    write_file(file.string() + ".svg", to_svg(plot));
    write_file(file.string() + ".png", to_png(plot));
    if (!options.quiet) app::say(fmt::format("{}.svg and .png drawn", printable(file.string())));
  }
}

int compare_maps(const OverlapMapCommand& options) {
  if (options.compared.size() != 2) throw ValueError("overlap map: --compare takes two maps");
  const OverlapMapAgreement agreement =
      compare_overlap_maps(read_results(options.compared[0]), read_results(options.compared[1]),
                           options.force ? Misfit::mistrust : Misfit::refuse);
  if (agreement.cells.empty()) {
    throw ValueError(fmt::format("'{}' and '{}' have no measured cell in common",
                                 printable(options.compared[0]), printable(options.compared[1])));
  }
  using enum TextTable::Align;
  TextTable table({"kernel", "resources", "metric", {"first", right}, {"second", right}, "agree"});
  const auto words = [](const Estimate& one) {
    return fmt::format("{:.3f} [{:.3f}, {:.3f}]", one.value, one.interval.low, one.interval.high);
  };
  for (const auto& cell : agreement.cells) {
    table.add({cell.kernel, cell.resources, cell.metric, words(cell.first), words(cell.second),
               cell.agree ? "yes" : "no"});
  }
  app::print(table, options.format);
  if (!agreement.mistrusted.empty()) app::say("mistrusted: " + agreement.mistrusted);
  app::say(fmt::format("{:.1f}% of {} cells agree within their intervals", 100 * agreement.share(),
                       agreement.cells.size()));
  return app::kPassed;
}

/// Measures on all running ranks: a collective.
std::vector<Measurement> measured_map(const OverlapMapCommand& options, Communicator& ranks) {
  app::pin_ranks(ranks);
  OverlapMapOptions how{.all_reduce = entry_of_words("all-reduce", options.all_reduce),
                        .bytes = std::int64_t(byte_count(options.bytes)),
                        .pairs = options.pairs,
                        .most_seconds = duration_seconds(options.budget),
                        .interrupt = app::ctrl_c()};
  how.resources.clear();
  for (const auto& words : options.resources) how.resources.push_back(resources_of(words));
  if (!options.round_file.empty()) how.fewest_pairs = 1;
  if (ranks.rank() == 0 && !options.quiet) {
    how.say = [](const std::string& line) { app::say(line); };
  }
  auto records = overlap_map(kernels_of(options), how, ranks);
  app::describe(records, options.ranks);
  for (Measurement& record : records) record.framework = options.frameworks.front();
  return records;
}

/// Not for the records of a round alone: a line starts all rounds.
int publish_map(const OverlapMapCommand& options, std::vector<Measurement> records) {
  for (Measurement& record : records) record.command = app::given_line();
  if (!options.pictures.empty()) draw_map(records, options);
  if (!is_for_people(options.format)) return app::publish(std::move(records), options);
  app::print(overlap_map_table(records), options.format);
  if (!options.out.empty()) {
    write_results({environment(), records}, options.out);
    app::say_written(options);
  }
  return exit_status(records, IfUnsupported::allow);
}

/// Runs one round on the ranks that are running.
int run_one_round(const OverlapMapCommand& options) {
  app::apply(options);
  if (options.threads == 0) share_threads();
  const auto ranks = app::ranks_of(options.ranks);
  const bool speaks = ranks->rank() == 0, is_part = !options.round_file.empty();
  if (speaks && !is_part) app::check_output(options);
  auto records = measured_map(options, *ranks);
  int status = app::kPassed;
  if (speaks && is_part) {
    write_results({environment(), records}, options.round_file);
  } else if (speaks) {
    status = publish_map(options, std::move(records));
  }
  ranks->barrier();  // a rank that fails while others are in a call would end the job
  return status;
}

int run_rounds(const OverlapMapCommand& options) {
  app::check_output(options);
  OverlapRounds how{.most_seconds = duration_seconds(options.budget), .interrupt = app::ctrl_c()};
  if (options.rounds > 0) how.rounds = options.rounds;
  if (!options.quiet) how.say = [](const std::string& line) { app::say(line); };
  const int pairs = (options.pairs + how.rounds - 1) / how.rounds;
  return publish_map(
      options, overlap_map_in_rounds(how, [&](int, double most_seconds) {
        auto words = own_command();
        words.insert(words.end(), {"--round-pairs", std::to_string(pairs)});
        if (std::isfinite(most_seconds)) {
          const std::string time = fmt::format("{:.0f}ms", std::ceil(1000 * most_seconds));
          words.insert(words.end(), {"--round-budget", time});
        }
        Results results = launched_map_round(options.started_ranks, words, app::ctrl_c());
        set_threads(results.environment.threads);  // as each rank had
        return std::move(results.measurements);
      }));
}

int run_overlap_map(const OverlapMapCommand& options) {
  if (!options.compared.empty()) return compare_maps(options);
  if (options.model.empty()) app::expect_frameworks_of_operators(options);
  for (const auto& words : options.resources) expect_usable(resources_of(words));
  const bool is_part = !options.round_file.empty();
  if (is_launched() && !is_part && options.rounds > 1) {
    throw ValueError(
        fmt::format("overlap map: {} rounds start ranks themselves, and a launcher started these; "
                    "leave mpirun out, or --rounds",
                    options.rounds));
  }
  if (is_launched() || is_part) return run_one_round(options);
  if (options.rounds != 1 && options.started_ranks > 1) return run_rounds(options);
  app::start_ranks(options.started_ranks);
  return run_one_round(options);
}

}  // namespace

void register_overlap_map(app::Program& program) {
  auto options = std::make_shared<OverlapMapCommand>();
  auto& command =
      program.add("overlap map", "measure how computation and communication slow each other",
                  kOverlapMapExamples, [=] { return run_overlap_map(*options); });
  command.add_option("CASE", options->cases, "operators; a published study's if left out");
  const std::map<std::string, KernelScale> scales{{"l2", KernelScale::l2},
                                                  {"l3", KernelScale::l3},
                                                  {"memory", KernelScale::memory},
                                                  {"full", KernelScale::full}};
  command
      .add_option("--scale", options->scale, "memory that holds the data of the study's kernels")
      ->transform(app::one_of(scales))
      ->option_text("l2|l3|memory|full");
  command.add_option("--model", options->model, "network whose operators are measured instead")
      ->option_text("MODEL");
  command.add_option("--batch", options->batch, "batch size of the network")
      ->transform(app::whole_number(1))
      ->option_text("N");
  command
      .add_option("--resources", options->resources,
                  "resources to compare: default, or settings such as "
                  "threads=1:chunk=64KiB:cores=0+1:waiting=spin:poll=10us")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...");
  command.add_option("--all-reduce", options->all_reduce, "algorithm ('d5 list all-reduces')")
      ->option_text("NAME:KEY=VALUE");
  command.add_option("--bytes", options->bytes, "size of each all-reduce")
      ->transform(app::bytes())
      ->option_text("SIZE");
  command
      .add_option("--pairs", options->pairs,
                  "pairs of measurements (alone, beside) of each cell, over all rounds")
      ->transform(app::whole_number(1, 100000))
      ->option_text("N");
  command
      .add_option("--rounds", options->rounds,
                  "rounds, each with newly started ranks, which share the pairs (6 if left out; "
                  "under mpirun 1)")
      ->transform(app::whole_number(1, 1000))
      ->option_text("N");
  command
      .add_option("--budget", options->budget,
                  "time for all cells (2min if left out); cells that run out of time have fewer "
                  "pairs, and are mistrusted")
      ->option_text("TIME");
  // Options of a round, which follow those of the whole command.
  command.add_option("--round-file", options->round_file)->group("");
  command.add_option("--round-pairs", options->pairs)->group("");
  command.add_option("--round-budget", options->budget)->group("");
  app::add_started_ranks_option(command, options->started_ranks);
  command.add_flag("--force", options->force,
                   "compare maps of different machines, too, and mistrust the result");
  command.add_option("--pictures", options->pictures, "folder for pictures of both slowdowns")
      ->option_text("DIR");
  command
      .add_option("--compare", options->compared,
                  "compare two maps that --out wrote on one machine")
      ->expected(2)
      ->option_text("A B");
  app::add_rank_options(command, options->ranks);
  app::add_framework_options(command, *options);
  app::add_process_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
