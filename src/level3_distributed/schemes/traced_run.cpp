// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/traced_run.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level3_distributed/schemes/distributed_trace.hpp"

namespace d5 {
namespace {

/// Only rank 0 writes; the others may not even see its folders.
void expect_writable(const TracedRunOptions& options, Communicator& ranks) {
  std::string reason;
  if (ranks.rank() == 0) {
    try {
      check_writable(options.path);
    } catch (const IoError& error) {
      reason = error.what();
    }
  }
  Tensor refused = Tensor::scalar<std::int32_t>(reason.empty() ? 0 : 1);
  ranks.broadcast(refused, 0);
  if (refused.item<std::int32_t>() == 0) return;
  if (ranks.rank() != 0) reason = "rank 0 cannot write the file";
  throw IoError(fmt::format("{}: {}", options.who, reason));
}

void write_trace(const Timeline& timeline, const TracedRunOptions& options) {
  write_timeline(timeline, options.path);
  for (const auto& rank : timeline.ranks) {
    if (rank.dropped == 0 || !options.say) continue;
    options.say(fmt::format("{}: rank {}'s first {} records did not fit and are left out",
                            printable(options.path), rank.rank, rank.dropped));
  }
}

/// Writes rank 0's own timeline after a run that threw.
void write_own_part(const TracedRunOptions& options, const Communicator& ranks,
                    const std::string& why) {
  Timeline mine = Trace::timeline();
  mine.cut_off = why;
  if (ranks.rank() != 0 || mine.records.empty()) return;
  try {
    write_trace(mine, options);
  } catch (const IoError& error) {
    if (options.say) options.say(fmt::format("the trace is lost: {}", error.what()));
  }
}

}  // namespace

void run_traced(const TracedRunOptions& options, const std::shared_ptr<Communicator>& ranks,
                const std::function<void()>& run) {
  if (options.path.empty()) return run();
  expect_writable(options, *ranks);
  const ClockSample begin{clock_offset(*ranks), Trace::now_ns()};
  TraceOptions tracing{.rank = ranks->rank()};
  // The file's size is bounded, whatever the number of ranks.
  tracing.most_records /= static_cast<std::size_t>(ranks->size());
  Trace::start(tracing);
  try {
    run();
  } catch (const std::exception& error) {
    Trace::stop();
    write_own_part(options, *ranks, error.what());
    throw;
  } catch (...) {
    Trace::stop();
    write_own_part(options, *ranks, "it failed");
    throw;
  }
  Trace::stop();
  const ClockSample end{clock_offset(*ranks), Trace::now_ns()};
  Timeline all = gather_timeline(*ranks, Trace::timeline(), clock_line(begin, end));
  if (options.cut_off) all.cut_off = options.cut_off();
  if (ranks->rank() == 0) write_trace(all, options);
  // A rank that exits with a failure while rank 0 still writes would end the job too early.
  ranks->barrier();
}

}  // namespace d5
