// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/entry_checks.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/rank_options.hpp"
#include "d5/level3_distributed/all_reduce_validation.hpp"
#include "d5/level3_distributed/collective.hpp"

namespace d5::command {
namespace {

struct AllReduceCheckOptions : app::EntryCheckOptions {
  app::RankOptions ranks;
};

constexpr const char* kAllReduceCheckExamples =
    R"(  mpirun -np 2 d5 all-reduce check              all; rank 0 prints (more ranks than cores:
                                                mpirun --oversubscribe)
  mpirun -np 2 d5 all-reduce check ring mine --load ./mine.so

Sums within rounding, the same bits on all ranks, maxima and minima, several under way at once.)";

int run_all_reduce_check(const AllReduceCheckOptions& options) {
  app::apply(options);
  const auto ranks = app::ranks_of(options.ranks);
  if (ranks->rank() == 0) app::check_output(options);
  if (ranks->size() == 1) (void)app::ctrl_c();  // mpirun ends all ranks by itself
  auto results = app::check_entries(
      options, "all-reduce", all_reduces().names(),
      [&](const EntryChoice& choice) { return check_all_reduce(choice, *ranks, options.seed); });
  app::describe(results, options.ranks);
  for (auto& result : results) result.command += app::to_line(options.ranks);
  const int status = ranks->rank() == 0 ? app::publish(std::move(results), options)
                                        : exit_status(results, options.if_unsupported);
  // A rank that exits with a failure while rank 0 still prints would end the job under its hands.
  ranks->barrier();
  return status;
}

}  // namespace

void register_all_reduce_check(app::Program& program) {
  auto options = std::make_shared<AllReduceCheckOptions>();
  auto& command =
      program.add("all-reduce check", "is an all-reduce right, on all ranks",
                  kAllReduceCheckExamples, [options] { return run_all_reduce_check(*options); });
  app::add_entry_check_options(command, *options, "all-reduces");
  app::add_rank_options(command, options->ranks);
}

}  // namespace d5::command
