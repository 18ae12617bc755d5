// SPDX-License-Identifier: Apache-2.0
#include "apps/traced_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/say.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"
#include "d5/level3_distributed/distributed_trace.hpp"

namespace d5::app {
namespace {

/// Rank 0 alone writes: the others may not even see its folders.
void check_writable_at_first(const std::string& path, Communicator& ranks) {
  std::string reason;
  if (ranks.rank() == 0) {
    try {
      check_writable(path);
    } catch (const IoError& error) {
      reason = error.what();
    }
  }
  Tensor refused = Tensor::scalar<std::int32_t>(reason.empty() ? 0 : 1);
  ranks.broadcast(refused, 0);
  if (refused.item<std::int32_t>() == 0) return;
  throw IoError(ranks.rank() == 0 ? "--trace: " + reason : "--trace: rank 0 cannot write the file");
}

void write(const Timeline& timeline, const std::string& path) {
  write_timeline(timeline, path);
  for (const auto& rank : timeline.ranks) {
    if (rank.dropped == 0) continue;
    say(fmt::format("note: {}: rank {}'s first {} records had no room and are left out",
                    printable(path), rank.rank, rank.dropped));
  }
}

}  // namespace

int run_traced(const std::string& path, const std::function<int()>& run) {
  if (path.empty()) return run();
  const auto ranks = world();
  check_writable_at_first(path, *ranks);
  const ClockOffset clock = clock_offset(*ranks);
  TraceOptions options{.rank = ranks->rank()};
  // The file's size is bounded, whatever the number of ranks.
  options.most_records /= static_cast<std::size_t>(ranks->size());
  Trace::start(options);
  int status = 0;
  try {
    status = run();
  } catch (...) {
    Trace::stop();
    const Timeline mine = Trace::timeline();
    try {
      if (ranks->rank() == 0 && !mine.records.empty()) write(mine, path);
    } catch (const IoError& error) {
      say(fmt::format("note: the trace is lost: {}", error.what()));
    }
    throw;
  }
  Trace::stop();
  const Timeline all = gather_timeline(*ranks, Trace::timeline(), clock);
  if (ranks->rank() == 0) write(all, path);
  // A rank that exits with a failure while rank 0 still writes would end the job under its hands.
  ranks->barrier();
  return status;
}

}  // namespace d5::app
