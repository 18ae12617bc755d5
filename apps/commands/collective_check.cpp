// SPDX-License-Identifier: Apache-2.0
// d5 all-reduce check, d5 broadcast check, ...: one command for each kind of collective.
#include <fmt/format.h>

#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/entry_checks.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/rank_options.hpp"
#include "d5/level3_distributed/collectives/collective_kind.hpp"
#include "d5/level3_distributed/collectives/collective_validation.hpp"

namespace d5::command {
namespace {

struct CollectiveCheckOptions : app::EntryCheckOptions {
  app::RankOptions ranks;
};

constexpr const char* kCollectiveCheckExamples =
    R"(  mpirun -np 2 d5 {0} check              all; rank 0 prints (more ranks than cores:
                                                mpirun --oversubscribe)
  mpirun -np 2 d5 {0} check mpi mine --load ./mine.so

Checks {1}, several calls in
flight at once, and messages and bytes against the algorithm's formula.)";

int run_collective_check(const CollectiveCheckOptions& options, const CollectiveKind& kind) {
  app::apply(options);
  const auto ranks = app::ranks_of(options.ranks);
  if (ranks->rank() == 0) app::check_output(options);
  if (ranks->size() == 1) (void)app::ctrl_c();  // mpirun ends all ranks by itself
  auto results =
      app::check_entries(options, kind.word, kind.names(), [&](const EntryChoice& choice) {
        return check_collective(kind.call, choice, *ranks, options.seed);
      });
  app::describe(results, options.ranks);
  for (auto& result : results) result.command += app::to_line(options.ranks);
  const int status = ranks->rank() == 0 ? app::publish(std::move(results), options)
                                        : exit_status(results, options.if_unsupported);
  // A rank that exits with a failure while rank 0 still prints would end the job before the output
  // is complete.
  ranks->barrier();
  return status;
}

}  // namespace

void register_collective_check(app::Program& program) {
  for (const CollectiveKind& kind : collective_kinds()) {
    auto options = std::make_shared<CollectiveCheckOptions>();
    const char* article = kind.word.front() == 'a' ? "an" : "a";
    const std::string what =
        kind.reduces() ? "sums within rounding, the same bits on all ranks, maxima and minima"
                       : "the right elements on every rank";
    auto& command = program.add(
        kind.word + " check", fmt::format("validate {} {} on all ranks", article, kind.word),
        fmt::format(fmt::runtime(kCollectiveCheckExamples), kind.word, what),
        [options, &kind] { return run_collective_check(*options, kind); });
    app::add_entry_check_options(command, *options, kind.plural);
    app::add_rank_options(command, options->ranks);
  }
}

}  // namespace d5::command
