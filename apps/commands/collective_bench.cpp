// SPDX-License-Identifier: Apache-2.0
// d5 all-reduce bench, d5 broadcast bench, ...: one command for each kind of collective.
#include "d5/level3_distributed/collectives/collective_bench.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/rank_options.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/level3_distributed/collectives/collective_kind.hpp"

namespace d5::command {
namespace {

constexpr const char* kCollectiveBenchExamples =
    R"(  mpirun -np 4 d5 {0} bench --out results.json
                                  all algorithms, interleaved, 4 B to 64 MiB, beside MPI's own
  mpirun -np 4 d5 {0} bench mpi ring --sizes 4B,1MiB
  d5 report results.json --format svg --plot bus_bandwidth-over-size > bandwidth.svg

Algorithm bandwidth is the data's size over the time. Bus bandwidth scales it to what the slowest
link carries, as nccl-tests define it. The time is that of the slowest rank.)";

struct CollectiveBenchCommand : app::OutputOptions, app::RunOptions {
  std::vector<std::string> entries, sizes;
  bool deepbench = false;
  MeasureOptions measuring = CollectiveBenchOptions().measuring;
  app::RankOptions ranks;
};

std::vector<std::int64_t> sizes_of(const CollectiveBenchCommand& options) {
  std::vector<std::int64_t> sizes;
  for (const std::string& size : options.sizes) sizes.push_back(std::int64_t(byte_count(size)));
  if (!options.deepbench) return sizes;
  const char* data = std::getenv("D5_DATA_DIR");
  if (!data) {
    throw ValueError("--deepbench: D5_DATA_DIR is not set; it is the folder above deepbench");
  }
  for (const std::int64_t size :
       deepbench_all_reduce_sizes(std::string(data) + "/deepbench/all_reduce.csv")) {
    sizes.push_back(size);
  }
  return sizes;
}

int run_collective_bench(const CollectiveBenchCommand& options, const CollectiveKind& kind) {
  app::apply(options);
  // Detecting hangs costs a few microseconds per call, so it is on only if an option asks for it.
  const std::string around = app::to_line(options.ranks);
  const auto ranks = around.empty() ? world() : app::ranks_of(options.ranks);
  if (ranks->rank() == 0) app::check_output(options);
  app::pin_ranks(*ranks);
  CollectiveBenchOptions how{.sizes = sizes_of(options),
                             .measuring = app::measuring_of(options.measuring, options),
                             .command_options = app::to_line(options) + around};
  for (const std::string& word : options.entries) {
    how.algorithms.push_back(entry_of_words(kind.word, word));
  }
  auto results = bench_collective(kind.call, how, *ranks);
  app::describe(results, options.ranks);
  const int status = ranks->rank() == 0 ? app::publish(std::move(results), options, collective_text)
                                        : app::kPassed;
  ranks->barrier();  // a rank that fails while others are in a call would end the job
  return status;
}

}  // namespace

void register_collective_bench(app::Program& program) {
  for (const CollectiveKind& kind : collective_kinds()) {
    auto options = std::make_shared<CollectiveBenchCommand>();
    const char* article = kind.word.front() == 'a' ? "an" : "a";
    auto& command =
        program.add(kind.word + " bench", fmt::format("measure {} {}, by size", article, kind.word),
                    fmt::format(fmt::runtime(kCollectiveBenchExamples), kind.word),
                    [options, &kind] { return run_collective_bench(*options, kind); });
    command.add_option(
        "NAME", options->entries,
        fmt::format("{0} ('d5 list {0}'), each as NAME[:KEY=VALUE]...; all if left out",
                    kind.plural));
    command
        .add_option("--sizes", options->sizes,
                    "sizes of the data: 4B,64KiB,1MiB; 4B to 64MiB if left out")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->option_text("A,B,...");
    command.add_flag("--deepbench", options->deepbench,
                     "use DeepBench's sizes, from $D5_DATA_DIR/deepbench/all_reduce.csv");
    app::add_measure_options(command, options->measuring);
    app::add_rank_options(command, options->ranks);
    app::add_process_options(command, *options);
    app::add_load_option(command, options->load);
    app::add_pivot_option(command, *options);
    app::add_output_options(command, *options);
    app::add_unsupported_option(command, *options);
  }
}

}  // namespace d5::command
